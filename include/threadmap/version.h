/* SPDX-License-Identifier: MIT
 * version.h - the version of threadmap. The build and all documents take it from here.
 *
 * Line of data: 0.1.0 -> TMAP_VERSION 1000, TMAP_VERSION_STRING "0.1.0".
 */
#ifndef TMAP_VERSION_H
#define TMAP_VERSION_H

#define TMAP_VERSION_MAJOR 0
#define TMAP_VERSION_MINOR 2
#define TMAP_VERSION_PATCH 0

/* One integer to compare with #if. Three decimal digits a part, so that no two versions collide. */
#define TMAP_VERSION (TMAP_VERSION_MAJOR * 1000000 + TMAP_VERSION_MINOR * 1000 + TMAP_VERSION_PATCH)

/* "major.minor.patch" as a string literal. */
#define TMAP_VERSION_STRING \
    TMAPI_VERSION_TEXT(TMAP_VERSION_MAJOR, TMAP_VERSION_MINOR, TMAP_VERSION_PATCH)
#define TMAPI_VERSION_TEXT(major, minor, patch)  TMAPI_VERSION_PASTE(major, minor, patch)
#define TMAPI_VERSION_PASTE(major, minor, patch) #major "." #minor "." #patch

#endif
