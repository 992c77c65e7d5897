import type { ComponentChildren, RefObject } from 'preact';
import { useId, useRef } from 'preact/hooks';

export type DialogRef = RefObject<HTMLDialogElement | null>;

/** What opens and closes a {@link Dialog}. */
export function useDialog(): DialogRef {
  return useRef<HTMLDialogElement>(null);
}

interface DialogProps {
  readonly own: DialogRef;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A modal question. Escape and a click beside it close it without an act. */
export function Dialog({ own, title, children }: DialogProps) {
  const id = useId();
  const closeOutside = ({ target, currentTarget }: Event) => {
    if (target === currentTarget) {
      own.current?.close();
    }
  };
  return (
    <dialog ref={own} aria-labelledby={id} onMouseDown={closeOutside}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
