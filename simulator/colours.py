"""Names the colours of a picture by looking at its pixels, as a vision model would be asked to.

Pillow is imported when the first picture is looked at: most requests never ask.
"""

import io

# Corners of the RGB cube and the named colours between them; a pixel belongs to the nearest.
PALETTE = {
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "orange": (255, 165, 0),
    "purple": (128, 0, 128),
    "pink": (255, 192, 203),
    "brown": (139, 69, 19),
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "gray": (128, 128, 128),
}
ALIASES = {
    "red": ((220, 20, 60),),
    "green": ((0, 255, 0), (60, 179, 113)),
    "blue": ((30, 60, 160), (70, 130, 220)),
    "pink": ((255, 105, 180),),
}
SIDE = 32  # the picture is shrunk to SIDE x SIDE first: noise averages out, areas stay
SHARE = 0.12  # of the area that makes a colour worth naming


def name_colours(data: bytes) -> list[str]:
    """Names of the colours that fill a noticeable part of the picture, largest first. Raises ValueError when it is no picture."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as picture:
            picture.draft("RGB", (SIDE * 8, SIDE * 8))  # a JPEG decodes to an eighth where that is enough
            rgb = picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX).tobytes()
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise ValueError(str(error)) from error
    counts: dict[str, int] = {}
    for i in range(0, len(rgb), 3):
        name = nearest(rgb[i], rgb[i + 1], rgb[i + 2])
        counts[name] = counts.get(name, 0) + 1
    ranked = sorted(counts, key=lambda name: -counts[name])
    return [name for name in ranked if counts[name] >= SHARE * SIDE * SIDE] or ranked[:1]


def nearest(red: int, green: int, blue: int) -> str:
    """The named colour closest to a pixel."""
    best, distance = "black", float("inf")
    for name, centre in PALETTE.items():
        for r, g, b in (centre, *ALIASES.get(name, ())):
            d = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2
            if d < distance:
                best, distance = name, d
    return best


def listing(names: list[str]) -> str:
    """`red`, `red and blue`, `red, blue and green`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
