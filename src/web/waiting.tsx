import type { Notice } from './words.js';

interface WaitingProps {
  readonly again: () => unknown;
  readonly tell: (notice: Notice | null) => void;
}

/** Shown until the server has answered, and after it failed to. */
export function Waiting({ again, tell }: WaitingProps) {
  const retry = () => {
    tell(null);
    again();
  };
  return (
    <>
      <p class="quiet">One moment…</p>
      <button type="button" class="link" onClick={retry}>
        Try again
      </button>
    </>
  );
}
