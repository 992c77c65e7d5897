/** Strokes on a grid of 24 units. */
const PATHS = {
  inbox: 'M4 14h4.5l1.5 2.5h4l1.5-2.5H20M4 14l3-9h10l3 9v5H4z',
  home: 'M4 11l8-7 8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z',
  computer: 'M4 5h16v11H4zM2 20h20',
  phone: 'M7 3h10v18H7zM11 18h2',
  browser: 'M3 5h18v14H3zM3 9h18M6 7h.01M9 7h.01',
  terminal: 'M3 5h18v14H3zM7 9l3 3-3 3M12 15h4',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4',
  shield: 'M12 3l8 3v5c0 5-3.5 8.5-8 10-4.5-1.5-8-5-8-10V6z',
  key: 'M14 10a4.5 4.5 0 1 1-2.7-4.1A4.5 4.5 0 0 1 14 10zM13.5 12l7 7M17 15.5l2-2',
  plus: 'M12 5v14M5 12h14',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  alert: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  printer: 'M7 8V3h10v5M7 17H4V8h16v9h-3M7 14h10v7H7z',
  camera: 'M3 8h4l2-3h6l2 3h4v11H3zM15.5 13a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0z',
  exit: 'M14 4h5v16h-5M10 8l-4 4 4 4M6 12h10',
  back: 'M19 12H5M11 6l-6 6 6 6',
  forward: 'M5 12h14M13 6l6 6-6 6',
  lock: 'M5 11h14v9H5zM8 11V8a4 4 0 0 1 8 0v3',
  certificate: 'M5 4h14v11H5zM8 8h8M8 11h5M14 15v6l2-1.5 2 1.5v-6',
  branch:
    'M7 5v14M17 9a6 6 0 0 1-6 6H7M9 5a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM9 19a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM19 7a2 2 0 1 1-4 0 2 2 0 0 1 4 0z',
  person: 'M16 8a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM4 21c.5-4 3.5-6 8-6s7.5 2 8 6',
  list: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  server: 'M4 4h16v6H4zM4 14h16v6H4zM7.5 7h.01M7.5 17h.01',
  ticket: 'M4 6h16v4a2 2 0 0 0 0 4v4H4v-4a2 2 0 0 0 0-4zM14 6v3M14 11v2M14 15v3',
  search: 'M17 10.5a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0zM15.5 15.5L21 21',
  download: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M4 20h16',
} as const;

export type IconName = keyof typeof PATHS;

interface IconProps {
  readonly name: IconName;
}

/** Decorative, and hidden from screen readers. */
export function Icon({ name }: IconProps) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The icon before an entry of a list. */
export function Tile({ name, isAccented = false }: IconProps & { readonly isAccented?: boolean }) {
  return (
    <span class={isAccented ? 'tile accent' : 'tile'}>
      <Icon name={name} />
    </span>
  );
}
