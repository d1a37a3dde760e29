"""The upper left part of a PNG file, decoded without other packages."""

import struct
import zlib


def chunks(data):
    """Yields the type and the content of each chunk of a PNG file."""
    position = 8
    while position < len(data):
        (size,) = struct.unpack(">I", data[position : position + 4])
        yield data[position + 4 : position + 8], data[position + 8 : position + 8 + size]
        position += 12 + size


def paeth(left, above, corner):
    """Predicts a byte from its neighbours, as the PNG format defines."""
    guess = left + above - corner
    far_left, far_above, far_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
    if far_left <= far_above and far_left <= far_corner:
        return left
    return above if far_above <= far_corner else corner


def unfilter(kind, line, previous, size):
    """Undoes the filter of one line of pixels of `size` bytes each, in place."""
    for index in range(len(line)):
        left = line[index - size] if index >= size else 0
        above = previous[index]
        if kind == 1:
            line[index] = (line[index] + left) & 255
        elif kind == 2:
            line[index] = (line[index] + above) & 255
        elif kind == 3:
            line[index] = (line[index] + (left + above) // 2) & 255
        elif kind == 4:
            corner = previous[index - size] if index >= size else 0
            line[index] = (line[index] + paeth(left, above, corner)) & 255


class Picture:
    """The pixels of the upper left part of a PNG file with 8 bits per channel."""

    scale = 1.0

    def __init__(self, file, width, height):
        with open(file, "rb") as stream:
            data = stream.read()
        packed = b""
        for kind, content in chunks(data):
            if kind == b"IHDR":
                full_width, full_height, _, colour = struct.unpack(">IIBB", content[:10])
            elif kind == b"IDAT":
                packed += content
        self.size = {2: 3, 6: 4}[colour]
        self.width, self.height = min(width, full_width), min(height, full_height)
        stride = full_width * self.size + 1
        raw = zlib.decompressobj().decompress(packed, stride * self.height)
        self.lines = []
        previous = bytearray(self.width * self.size)
        for y in range(self.height):
            line = bytearray(raw[y * stride + 1 : y * stride + 1 + self.width * self.size])
            if raw[y * stride]:
                unfilter(raw[y * stride], line, previous, self.size)
            self.lines.append(line)
            previous = line

    def at(self, x, y):
        """Returns red, green and blue of a pixel."""
        start = x * self.size
        return tuple(self.lines[y][start : start + 3])

    def pixels(self, left, top, right, bottom):
        """Yields x, y and the colour of each pixel of a rectangle that lies in the picture."""
        for y in range(max(top, 0), min(bottom, self.height)):
            for x in range(max(left, 0), min(right, self.width)):
                yield x, y, self.at(x, y)
