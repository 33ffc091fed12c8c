#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the readers of samples/files make of the files of corpus.py, what they refuse, with which
line; and with numpy, that both read each other's files, and the code of samples/files/README.md.

usage: files_test.py PROGRAM    (test_files)
"""
import itertools
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

from corpus import FILES, HERE, atom, npy

try:
    import numpy
except ImportError:
    numpy = None

LOW = -3.4028234663852886e38  # what NaN becomes in a file without a number for NODATA
CASES = []  # (format, bytes, what the program says)


def add(name, content, said):
    CASES.append((name, content.encode('latin1') if isinstance(content, str) else content, said))


def file(name):
    content = FILES[name]
    return content if isinstance(content, bytes) else content.encode()


def patch(name, at, digits, size=None):
    """The first bytes of a file, some of them changed."""
    data, new = file(name)[:size], bytes.fromhex(digits)
    return data[:at] + new + data[at + len(new):]


def swap(name, old, new):
    """A file with another text in place of one as long."""
    assert file(name).count(old) == 1 and len(old) == len(new)
    return file(name).replace(old, new)


def f32(value):
    return struct.unpack('f', struct.pack('f', value))[0]


def floats(*values):
    return ''.join(f' {f32(v):.9g}' for v in values)


def doubles(*values):
    return ''.join(f' {v:.17g}' for v in values)


def refuse(name, *rows):
    for content, said in rows:
        add(name, content, said)


# ---- frames -------------------------------------------------------------------------------------

XYZ = (1, 2, 3, 4.5, -5.25, 6, 0, 0, 1e-3, 7, 8, 9, -1, -2, -3, 10, 11, 12.5)
CELLS = ' cell' + floats(10, 20, 30, 90, 90, 90, 11, 20, 30, 90, 90, 90)
ENDS = (1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3)
add('pdb', file('models.pdb'), '2 4' + floats(
    0, -1.25, 1234.567, 1.5, 2, 3, 4, 5, 6, -999.999, 0, 9999.999,
    1, -1.25, 1234.567, 1.5, 2, 4, 4, 5, 6, -999.999, 0, 9999.999)
    + ' cell' + floats(10, 20, 30.5, 90, 90, 90, 11, 20, 30.5, 90, 90, 90))
add('pdb', file('ends.pdb'), '2 2' + floats(*ENDS))
SKEW = '1 2' + floats(*ENDS[:6]) + ' cell' + floats(10, 20, 30, 97.5, 90, 90)
add('pdb', file('skew.ent'), SKEW)
add('xyz', file('frames.xyz'), '2 2' + floats(.5, -1.25, 100, .5, 2, -.375, 1, 2, 3, 4, 5, 6))
add('xyz', file('digits.xyz'), '1 3' + floats(.1, 3.4028235e38, -1e-3, 1, 7, 0, 2 ** 24, 2 ** 53,
                                              -0.0))
add('dcd', file('namd.dcd'), '2 3' + floats(*XYZ) + CELLS)
add('dcd', file('charmm.dcd'), '2 3' + floats(*XYZ) + CELLS)  # its head says 0 frames,
add('dcd', file('xplor.dcd'), '1 3' + floats(*XYZ[:9]))       # and this one 7
add('dcd', file('namd.dcd')[:-116],
    '1 3' + floats(*XYZ[:9]) + CELLS[:-len(floats(11, 20, 30, 90, 90, 90))])
add('dcd', file('none.dcd'), '2 3' + floats(*XYZ))
add('dcd', file('skew.dcd'), '1 3' + floats(*XYZ[:9]) + ' cell' + floats(10, 20, 30, 60, 75.5, 120))
add('dcd', file('cosines.dcd'), '1 3' + floats(*XYZ[:9]) + ' cell' + floats(
    10, 20, 30, 60, math.degrees(math.acos(.25)), 120))
add('dcd', file('matrix.dcd'), '1 3' + floats(*XYZ[:9]) + ' cell' + floats(
    80 ** .5, 122.25 ** .5, 150.25 ** .5, math.degrees(math.acos(55 / (122.25 * 150.25) ** .5)),
    math.degrees(math.acos(-10 / (80 * 150.25) ** .5)),
    math.degrees(math.acos(-72 / (80 * 122.25) ** .5))))
for title in (patch('namd.dcd', 92, 'ffffffff'), patch('namd.dcd', 180, '00'),  # markers that differ,
              patch('namd.dcd', 96, '07')):                                     # another count
    add('dcd', title, '2 3' + floats(*XYZ) + CELLS)
add('frames', file('frames.npy'), '2 1' + floats(1, 2, 3, -4, 5.5, 6))
add('frames', file('one.npy'), '1 2' + floats(.1, 2, 3, 4, 5, 0))

ATOM = 'ATOM      1  C   UNK A   1    '  # 30 columns
PLACE = ATOM + '   1.000   2.000   3.000\n'
MODELS = 'MODEL 1\n' + PLACE
NO_CELL = 'no lengths and angles of a cell in CRYST1'
for k in range(4):  # an angle, or none, is not 90 degrees
    turns = [(89.99, 120, 60)[i] if i + 1 == k else 90 for i in range(3)]
    add('pdb', 'CRYST1    1.000   20.000    1.000' + ''.join(f'{t:7.2f}' for t in turns) + '\n'
        + PLACE, '1 1 1 2 3 cell 1 20 1' + floats(*turns))
# Of 1000 atoms with three letters of alternate locations, in changing order, the first one counts.
add('pdb', ''.join(atom(1, f'C{i // 3 % 7}', 'UNK', i // 3, (i // 3, i % 3, 0),
                        'ABC'[(i + i // 3) % 3]) for i in range(3000)),
    '1 1000' + ''.join(floats(i, 0, 0) for i in range(1000)))
refuse(
    'pdb', ('', 'has no atoms'), ('HEADER\nEND\nATOMS\n', 'has no atoms'),
    ('ATOM\n', 'line 1: an atom without coordinates'),
    (ATOM + '   1.000   2.000\n', 'line 1: no number in columns 47 to 54'),
    (PLACE + ATOM + '   1.000 2,000     3.000\n', 'line 2: no number in columns 39 to 46'),
    (ATOM + '********   2.000   3.000\n', 'line 1: no number in columns 31 to 38'),
    (PLACE + ATOM + '   1.000   2.000     nan\n',
     'frame 0, atom 1 (from 0): z is not a finite number'),
    (MODELS + 'ENDMDL\nMODEL 2\n' + PLACE + PLACE + 'ENDMDL\n',
     'line 6: frame 1 has more atoms than the 1 of frame 0'),
    (MODELS + PLACE + 'ENDMDL\nMODEL 2\n' + PLACE + 'ENDMDL\n',
     'line 7: frame 1 has 1 atoms, frame 0 has 2'),
    (MODELS + 'MODEL 2\nENDMDL\n', 'line 4: a frame without atoms'),
    (MODELS + 'ENDMDL\n' + PLACE, 'line 4: an atom outside of MODEL and ENDMDL'),
    (PLACE + MODELS, 'line 2: MODEL behind atoms of no model'),
    ('CRYST1   10.000  -20.000   30.000  90.00  90.00  90.00\n' + PLACE, 'line 1: ' + NO_CELL),
    ('CRYST1   10.000   20.000   30.000  90.00   0.00  90.00\n' + PLACE, 'line 1: ' + NO_CELL),
    ('CRYST1   10.000   20.000   30.000  90.00  90.00 180.00\n' + PLACE, 'line 1: ' + NO_CELL),
    ('CRYST1   10.000   20.000\n' + PLACE, 'line 1: no number in columns 25 to 33 of CRYST1'))
refuse(
    'xyz', ('', 'has no atoms'), ('0\n\n', 'line 1: no number of atoms'),
    ('-1\n\n', 'line 1: no number of atoms'), ('2 atoms\n\n', 'line 1: no number of atoms'),
    (f'{2 ** 64}\n\n', 'line 1: no number of atoms'),
    ('1\n\nH 1 2 3\nH 1 2 3\n', 'line 4: no number of atoms'),
    (f'{10 ** 18}\n\nH 1 2 3\n', f'ends after 1 of the {10 ** 18} atoms of frame 0'),
    (f'{2 ** 64 - 1}\n', f'ends after 0 of the {2 ** 64 - 1} atoms of frame 0'),
    ('1\n\nH 1 2 3\n2\n\nH 1 2 3\nH 1 2 3\n', 'line 4: frame 1 has 2 atoms, frame 0 has 1'),
    ('1\n\n1 2 3\n', 'line 3: no symbol and three numbers'),
    ('1\n\nH 1 0x10 3\n', 'line 3: no symbol and three numbers'),
    ('1\n\nH 1 2 3\n1\n\nH 1 -inf 3\n', 'frame 1, atom 0 (from 0): y is not a finite number'),
    ('1\n\nH 1e39 2 3\n', 'frame 0, atom 0 (from 0): x is not a finite number'))
NO_DCD = 'no DCD file: does not begin with a record of 84 bytes, CORD'
MARKERS = 'record markers of 8 bytes are not read, only those of 4'
TURNED = ': no lengths and angles of a cell'
refuse(
    'dcd', ('CORD', 'no DCD file: shorter than the head of one'),
    (patch('namd.dcd', 0, '55'), NO_DCD), (patch('namd.dcd', 88, '55'), NO_DCD),
    (patch('namd.dcd', 4, '56454c44'), 'has velocities, no coordinates'),
    (patch('namd.dcd', 4, '00000000434f5244'), MARKERS),
    (patch('charmm.dcd', 0, '0000000000000054434f5244'), MARKERS),
    (patch('charmm.dcd', 40, '00000005'),
     '5 fixed atoms, which only frame 0 would have, are not read'),
    (patch('namd.dcd', 92, 'ffffffff000000ff'), 'the record of the title is broken'),
    (patch('namd.dcd', 92, 'ffffffff02'), 'the record with the number of atoms is broken'),
    (file('namd.dcd')[:95], 'the record of the title is broken'),
    (patch('namd.dcd', 184, '05'), 'the record with the number of atoms is broken'),
    (patch('namd.dcd', 188, '00'), 'has 0 atoms'),
    (patch('namd.dcd', 188, 'feffffff'), 'has -2 atoms'),
    (patch('namd.dcd', 188, 'ffffff7f'), 'ends after 232 of the 25769803844 bytes of frame 0'),
    (file('namd.dcd')[:-1], 'ends after 115 of the 116 bytes of frame 1'),
    (file('namd.dcd')[:196], 'ends after 0 of the 116 bytes of frame 0'),
    (patch('namd.dcd', 196, '31'), 'frame 0: the record of its cell is broken'),
    (patch('namd.dcd', 206, 'f0ff'), 'frame 0' + TURNED),
    (patch('charmm.dcd', 344, '4066800000'), 'frame 1' + TURNED),
    (patch('namd.dcd', 214, 'f87f'), 'frame 0' + TURNED),
    (patch('namd.dcd', 288, '0d'), 'frame 0: the record of its y is broken'),
    (patch('charmm.dcd', 467, '00'), 'frame 1: the record of its w is broken'),
    (patch('namd.dcd', 416, '0000807f'), 'frame 1, atom 1 (from 0): z is not a finite number'))

# ---- .npy ---------------------------------------------------------------------------------------


def array(text, values=bytes(12)):
    """An .npy file of version 1.0 with this head."""
    return b'\x93NUMPY\1\0' + struct.pack('<H', len(text)) + text.encode() + values


def head(shape, after=', }', values=12, descr="'<f4'", order='False'):
    """The same with this number of bytes of zeros."""
    return array(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}{after}",
                 bytes(values))


TYPES = 'has values of another type than u1 u2 u4 u8 i1 i2 i4 i8 f4 f8'
SHAPE = 'its shape is not (F, n, 3) with F and n from 1'
KEYS = 'its head has other keys than descr, fortran_order and shape'
HEAD = "its head is not {'descr': ..., 'fortran_order': ..., 'shape': ...}"
for bad in ('3', '(x,)', '(-1, 3)', '(1 3)', '(1,, 3)', '(1, 3', f'({2 ** 64}, 3)', '(1.0, 3)'):
    add('frames', head(bad), 'its shape is no tuple of whole numbers')
refuse(
    'frames', (b'\x93NUMPX\1\0', 'no .npy file'),
    (patch('frames.npy', 6, '04'), 'is of version 4.0 of .npy, not 1.0, 2.0 or 3.0'),
    (patch('frames.npy', 7, '01'), 'is of version 1.1 of .npy, not 1.0, 2.0 or 3.0'),
    (file('frames.npy')[:9], 'ends inside its head'),
    (file('frames.npy')[:100], 'ends inside its head'),
    (patch('one.npy', 8, 'ffffffff'), 'ends inside its head'),
    (file('frames.npy')[:-1], 'its shape needs 24 bytes, but 23 are there'),
    (head('()', values=4), 'is a single value, no array'),
    (head('(1, 1, 1, 3)'), 'has more than 3 dimensions'),
    (head(f'({2 ** 62}, 2, 3)'), 'its shape has more values than 2^64'),
    (head(f'({10 ** 18}, 2, 3)'), 'its shape has more values than 2^64'),
    (head(f'({10 ** 17}, 2, 3)'), f'its shape needs {24 * 10 ** 17} bytes, but 12 are there'),
    (head('(0, 2, 3)', values=0), SHAPE), (head('(1, 3, 2)', values=24), SHAPE),
    (head('(3,)'), SHAPE),
    (head('(1, 3)', order='Maybe'), 'its fortran_order is neither True nor False'),
    (head('(1, 3)', descr="'<f2'", values=6), TYPES), (head('(1, 3)', descr="'|f4'"), TYPES),
    (head('(1, 3)', descr="[('x', '<f4')]"), TYPES), (head('(1, 3)', descr="[('', '<f4')]"), TYPES),
    (head('(1, 3)', ", 'more': 1}"), KEYS), (head('(1, 3)', ", 'shape': (1, 3)}"), KEYS),
    (head('(1, 3)', ''), 'its head does not end'), (head('(1, 3)', '} x'), HEAD),
    (array("{'descr': '<f4', 'shape': (1, 3), }"), HEAD))
add('frames', file('longs.npy'), '1 2' + floats(1, -2, 3, 4, -2 ** 31, 2 ** 31))
add('frames', file('columns.npy'), '1 2' + floats(1, 2, 3, 4, 5, 6))
# Keys in another order, quotes of the other kind, no blanks and no comma at the end.
add('frames', array('{"shape":(1,3),"fortran_order":False,"descr":">f4"}',
                    struct.pack('>3f', 0, 3, 3.14)), '1 1' + floats(0, 3, 3.14))

# ---- heights ------------------------------------------------------------------------------------

I16, I32, F32 = range(3)
NO_BYTES = 'has 0 bytes behind its head, not '
P5 = 'its head does not tell width, height and a grey level to 65535'
add('pgm', file('grey8.pgm'), f'3 2 {I16} 0 1 2 100 199 200')
add('pgm', file('grey16.pgm'), f'2 2 {I32} 0 255 256 65535')
for bad in ('P5', 'P5 2 2', 'P5 0 2 255\n', 'P5 -1 2 255\n', 'P5 2 2 0\n', 'P5 2 2 65536\n',
            f'P5 {2 ** 64} 1 255\n', 'P5 # 2 2 255'):
    add('pgm', bad, P5)
refuse(
    'pgm', ('P', 'no raw PGM file (P5)'), ('P2 1 1 255 7', 'no raw PGM file (P5)'),
    ('P5 2 2 255', 'no blank ends its head'), ('P5 2 2 255x', 'no blank ends its head'),
    ('P5 2 2 255\nabc', 'has 3 bytes behind its head, not 2 x 2 x 1'),
    ('P5 2 2 255\nabcde', 'has 5 bytes behind its head, not 2 x 2 x 1'),
    ('P5 2 2 256\nabcd', 'has 4 bytes behind its head, not 2 x 2 x 2'),
    ('P5 4294967296 4294967296 255\n', NO_BYTES + '4294967296 x 4294967296 x 1'),
    ('P5 2147483648 4294967296 256\n', NO_BYTES + '2147483648 x 4294967296 x 2'),
    ('P5 2 2 100\nabzd', 'row 1, column 0 (from 0): 122 is above its highest level, 100'))

ESRI = f'2 2 {F32}' + doubles(1, -9999, .5, 1e10) + ' nodata -9999 place -1 3 2 2'
GDAL = f'3 2 {F32}' + doubles(1, 2, LOW, 4, 5, 6.5) + f' nodata {LOW:.17g} place 6 45.125 0.25 0.5'
add('flt', file('esri.hdr') + b'\0' + file('esri.flt'), ESRI)
add('flt', file('gdal.hdr') + b'\0' + file('gdal.flt'), GDAL)
WHOLE, NUMBER = 'its ncols or nrows is no whole number from 1', ': no number behind its key'
ONE = 'ncols 1\nnrows 1\n'
for bad, count, line in (
        ('', 4, 'has no ncols or no nrows'), ('nrows 2\n', 4, 'has no ncols or no nrows'),
        ('ncols\n', 4, 'line 1' + NUMBER), ('ncols two\n', 4, 'line 1' + NUMBER),
        ('ncols 2\ncellsize inf\n', 4, 'line 2' + NUMBER),
        ('ncols 2\nncols 2\n', 4, 'line 2: a key is there twice'),
        ('nodata 1\nnodata_value 2\n', 4, 'line 2: a key is there twice'),
        ('ncols 2\nnrows -2\n', 4, WHOLE), ('ncols 0\nnrows 2\n', 4, WHOLE),
        ('ncols 1.5\nnrows 2\n', 4, WHOLE),
        (ONE + 'cellsize 0\n', 4, 'its cells have no size above 0'),
        (ONE + 'xdim 2\n', 4, 'its cells have no size above 0'),
        (ONE + 'ydim 2\nxdim -1\n', 4, 'its cells have no size above 0'),
        (ONE + 'nbands 3\n', 4, 'has several bands; one is read'),
        (ONE + 'nbits 16\n', 4, 'its values are no floats of 32 bits'),
        (ONE + 'pixeltype signedint', 4, 'its values are no floats of 32 bits'),
        (ONE + 'skipbytes 4', 8, 'has bytes to skip; none are read'),
        (ONE + 'byteorder VMS_FFLOAT', 4,
         'its byte order is neither LSBFIRST (I) nor MSBFIRST (M)'),
        ('ncols 1\nnrows 2\nwhatever this is', 7, 'has 7 bytes, not those of 1 x 2 floats'),
        (ONE, 8, 'has 8 bytes, not those of 1 x 1 floats'),
        (f'ncols {2 ** 32}\nnrows {2 ** 30}\n', 0,
         f'has 0 bytes, not those of {2 ** 32} x {2 ** 30} floats')):
    add('flt', bad.encode() + bytes(1 + count), line)
add('flt', ONE.encode() + b'\0\0\0\x80\x7f', 'row 0, column 0 (from 0): an infinite height')

add('heights', file('bytes.npy'), f'2 1 {I16} 0 255')
add('heights', file('words.npy'), f'2 2 {I16} 1 -2 32767 -32768')
add('heights', file('doubles.npy'), f'3 1 {F32}{doubles(f32(.1), LOW)} -0 nodata {LOW:.17g}')
add('heights', file('longs.npy'), f'3 2 {I32} 1 -2 3 4 {-2 ** 31} {2 ** 31 - 1}')
add('heights', file('columns.npy'), f'3 2 {F32} 1 2 3 4 5 6')
add('heights', npy('>u8', '(2, 1)', [0, 2 ** 31 - 1]), f'1 2 {I32} 0 {2 ** 31 - 1}')
add('heights', file('one.npy'), f'3 2 {F32}' + doubles(f32(.1), 2, 3, 4, 5, 0))
add('heights', npy('<u2', '(2, 1)', [0, 65535]), f'1 2 {I32} 0 65535')
add('heights', npy('|i1', '(2, 1)', [-128, 127]), f'1 2 {I16} -128 127')
add('heights', npy('<i4', '(2, 1)', [-2 ** 31, 2 ** 31 - 1]), f'1 2 {I32} {-2 ** 31} {2 ** 31 - 1}')
add('heights', npy('<f4', '(2, 1)', [.5, -1e38]), f'1 2 {F32}' + doubles(.5, f32(-1e38)))
refuse(
    'heights', (file('frames.npy'), 'has 3 dimensions, not 2'),
    (npy('<i8', '(2, 2)', [0, 1, 2, 2 ** 31]),
     f'row 1, column 1 (from 0): {2 ** 31} is no integer of 32 bits'),
    (npy('<i8', '(1, 1)', [-2 ** 63]),
     f'row 0, column 0 (from 0): {-2 ** 63} is no integer of 32 bits'),
    (npy('<u4', '(1, 1)', [2 ** 32 - 1]),
     f'row 0, column 0 (from 0): {2 ** 32 - 1} is no integer of 32 bits'),
    (patch('bytes.npy', 61, '30', 128), 'is a map of 2 x 0 cells'),
    (patch('bytes.npy', 64, '30', 128), 'is a map of 0 x 1 cells'),
    (patch('doubles.npy', 150, 'f07f'), 'row 0, column 2 (from 0): an infinite height'))

# ---- states -------------------------------------------------------------------------------------

STATE = 'no state: the name of its values is not ROWS level R step S'
OTHER = 'its type or shape is not that of its fractal and level '
WORDS = 'has values of another type than u1 f4 u2 u4 u8'
for known in ('life.npy', 'heat.npy'):
    add('state', file(known), file(known).hex())
for old, new, line in (
        (b'step', b'stop', STATE), (b'level', b'Lewel', STATE), (b'#./##', b'#.x##', STATE),
        (b'#./##', b'#././', STATE), (b'#./##', b'.....', STATE), (b'level 4', b'level -', STATE),
        (b'step 100', b'step 1 0', STATE), (b'4 step 100', b'65 step 10', STATE),
        (b'4 step 100', b'4 step    ', STATE), (b'#./## ', b'#./##_', STATE),
        (b'#./## level 4 step 100', b' level 4 step 18446744', STATE),
        (b'(3,)', b'(2,)', 'its shape needs 8 bytes, but 12 are there'),
        (b'<u4', b'<f8', WORDS), (b'<u4', b'<i4', WORDS), (b"<u4')]", b"<u4'),", WORDS),
        (b'<u4', b'>u4', 'is of the other byte order'), (b'<u4', b'<f4', OTHER + '4'),
        (b'(3,), }', b'(3,1),}', OTHER + '4'), (b'level 4', b'level 5', OTHER + '5'),
        (b'#./##', b'##/##', OTHER + '4')):
    add('state', swap('life.npy', old, new), line)
refuse(
    'state', ('no array', 'no .npy file'), (file('life.npy')[:100], 'ends inside its head'),
    (file('life.npy')[:-1], 'its shape needs 12 bytes, but 11 are there'),
    (file('life.npy') + b'\0', 'its shape needs 12 bytes, but 13 are there'),
    (swap('heat.npy', b'18446744073709551615', b'18446744073709551616'), STATE),
    (file('frames.npy'), 'its values have no name'),
    (patch('life.npy', len(file('life.npy')) - 9, '0d'), 'word 0 has bits beyond its 27 cells'),
    (patch('life.npy', len(file('life.npy')) - 1, '08'), 'word 2 has bits beyond its 27 cells'))

# ---- paths --------------------------------------------------------------------------------------

MISSING = ' cannot be opened: No such file or directory'
for name, path, line in (
        ('frames', 'walk.gro', 'walk.gro: its ending is none of .pdb .ent .xyz .dcd .npy'),
        ('frames', 'no\nsuch.XYZ', 'no?such.XYZ:' + MISSING),
        ('frames', 'x' * 300 + '.xyz', f"...{'x' * 76}.xyz: cannot be opened: File name too long"),
        ('frames', os.path.join(HERE, 'skew.ent'), SKEW),
        ('heights', 'a.tif', 'a.tif: its ending is none of .pgm .flt .npy'),
        ('heights', '', ': its ending is none of .pgm .flt .npy'),
        ('heights', os.path.join(HERE, 'esri.flt'), ESRI),
        ('heights', os.path.join(HERE, 'gdal.flt'), GDAL),
        ('heights', 'a.flt', 'a.flt:' + MISSING), ('state', 'a.npy', 'a.npy:' + MISSING),
        ('state', os.path.join(HERE, 'life.npy'), file('life.npy').hex())):
    add(name + '/', path, line)

# ---- numpy --------------------------------------------------------------------------------------


def cells(rows, level):
    """The cells of a fractal in the order of compact storage: replica by replica."""
    if level == 0:
        return [(0, 0)]
    below, sx, sy = cells(rows, level - 1), len(rows[0]) ** (level - 1), len(rows) ** (level - 1)
    return [(bx * sx + x, by * sy + y) for by, row in enumerate(rows) for bx, c in enumerate(row)
            if c == '#' for x, y in below]


def add_arrays(path):
    """numpy's files of every type, byte order, number of dimensions and order of them."""
    types = '|u1 |i1 <u2 >u2 <i2 >i2 <u4 >u4 <i4 >i4 <u8 >u8 <i8 >i8 <f4 >f4 <f8 >f8'
    shapes = (5,), (0,), (3, 4), (1, 0), (2, 3, 5)
    for i, (code, shape) in enumerate(itertools.product(types.split(), shapes)):
        for version, order in enumerate('CFF'[i % 2:]):
            made = numpy.arange(numpy.prod(shape)) * 7.3 + (0 if 'u' in code else -20)
            made = numpy.asarray(made.astype(code).reshape(shape), order=order)
            with open(path, 'wb') as out:
                numpy.lib.format.write_array(out, made, version=(version + 1, 0))
            with open(path, 'rb') as saved:
                add('npy', saved.read(), f'{code[1:]} {len(shape)} ' + ' '.join(
                    map(str, (shape + (1, 1))[:3])) + doubles(*made.ravel().tolist()))


def check_state(load, path, rows, level, code):
    """A state of bytes i * 7 % 251, but for idle bits, which `load` skips; numpy saves it again."""
    what = f'{rows} {level} {code}'
    if subprocess.run([sys.argv[1], path, rows, str(level), code], check=False).returncode:
        return wrong.append(f'{what} is not written')
    with open(path, 'rb') as saved:
        before = saved.read()
    step, x, y, got = load(path)
    places, count = cells(rows.split('/'), level), len(numpy.load(path))
    raw = numpy.frombuffer(bytes(i * 7 % 251 for i in range(count * int(code[1]))), code)
    want = raw if code in ('u1', 'f4') else numpy.array(
        [int(raw[i % count]) >> i // count & 1 for i in range(len(places))])
    if step != 77 or list(zip(x.tolist(), y.tolist())) != places or \
            not numpy.array_equal(got, want, equal_nan=code == 'f4'):
        wrong.append(f'{what}: other places or values')
    numpy.save(path, numpy.load(path))
    with open(path, 'rb') as saved:
        return add('state', saved.read(), before.hex())


def check_numpy(path):
    """Files that numpy writes and loads."""
    add_arrays(path)
    with open(os.path.join(HERE, '../../../samples/files/README.md'), encoding='utf-8') as page:
        code, = re.findall(r'^```python\n(.*?)^```$', page.read(), re.M | re.S)
    names = {}
    exec(compile(code, 'README.md', 'exec'), names)  # pylint: disable=exec-used
    for fractal in ('#./##', '###/#.#/###', '#.#', '#..#/####/####/#..#', '#'):
        for level in range(4):
            check_state(names['load_state'], path, fractal, level, ('u1', 'f4')[level % 2])
    for fractal, level, word in (('#./##', 0, 'u2'), ('#./##', 5, 'u4'), ('###/#.#/###', 3, 'u8'),
                                 ('#.#', 3, 'u2'), ('#.#', 7, 'u8'), ('#', 9, 'u2')):
        check_state(names['load_state'], path, fractal, level, word)


wrong = []
if numpy:
    with tempfile.TemporaryDirectory() as folder:
        check_numpy(os.path.join(folder, 'array.npy'))
asked = b''.join(f'{name} {len(content)}\n'.encode() + content for name, content, _ in CASES)
done = subprocess.run([sys.argv[1]], input=asked, capture_output=True, check=False)
answers = done.stdout.decode('latin1').split('\n')
for (name, content, want), got in zip(CASES, answers):
    if got != want:
        wrong.append(f'{name} {content[:80]}:\n    {got[:200]}\n    instead of {want[:200]}')
if done.returncode or done.stderr or len(answers) != len(CASES) + 1:
    wrong.append(f'{len(answers)} answers, status {done.returncode}: {done.stderr.decode()}')
print('\n'.join(wrong))
print(f'{len(CASES)} files, {len(wrong)} wrong' + ('' if numpy else '; numpy is not here'))
sys.exit(bool(wrong))
