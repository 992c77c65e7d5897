/** Both are `#rrggbb`. */
interface AccentShade {
  readonly accent: string;
  readonly onAccent: string;
}

type Rgb = readonly [red: number, green: number, blue: number];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
/** The surface of each theme on which the accent stands out least. */
const LIGHT_SURFACE: Rgb = [241, 243, 240];
const DARK_SURFACE: Rgb = [30, 36, 34];
/** More than the 4.5 of WCAG 1.4.3: the accent stands on a surface tinted with itself, too. */
const MIN_CONTRAST = 5.6;
const STEPS = 40;

/**
 * Returns shades for a light and a dark theme: the colour itself where its contrast is enough, else
 * the nearest darker or lighter one.
 * @param color `#rrggbb`
 */
export function accentShades(color: string) {
  const given = parse(color);
  return {
    light: shade(readable(given, LIGHT_SURFACE, BLACK)),
    dark: shade(readable(given, DARK_SURFACE, WHITE)),
  };
}

function readable(color: Rgb, surface: Rgb, towards: Rgb): Rgb {
  const mixed = Array.from({ length: STEPS + 1 }, (_value, step) =>
    mix(color, towards, step / STEPS),
  );
  return mixed.find((one) => contrast(one, surface) >= MIN_CONTRAST) ?? towards;
}

function shade(color: Rgb): AccentShade {
  const onAccent = contrast(color, WHITE) >= contrast(color, BLACK) ? WHITE : BLACK;
  return { accent: format(color), onAccent: format(onAccent) };
}

function mix(color: Rgb, other: Rgb, part: number): Rgb {
  const [red, green, blue] = [0, 1, 2].map((channel) =>
    Math.round((color[channel] ?? 0) * (1 - part) + (other[channel] ?? 0) * part),
  );
  return [red ?? 0, green ?? 0, blue ?? 0];
}

/** WCAG 2.2: 1 to 21. */
export function contrastRatio(one: string, other: string): number {
  return contrast(parse(one), parse(other));
}

function contrast(one: Rgb, other: Rgb): number {
  const [lighter, darker] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return ((lighter ?? 0) + 0.05) / ((darker ?? 0) + 0.05);
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

function parse(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function format(color: Rgb): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
