import type { ComponentChildren, RefObject } from 'preact';
import { useId, useRef } from 'preact/hooks';

export type DialogRef = RefObject<HTMLDialogElement | null>;

export function useDialog(): DialogRef {
  return useRef<HTMLDialogElement>(null);
}

interface DialogProps {
  readonly own: DialogRef;
  readonly title: string;
  /** Also runs after Escape. */
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
}

/** Escape and a click outside close it without an action. */
export function Dialog({ own, title, onClose, children }: DialogProps) {
  const id = useId();
  const closeOutside = ({ target, currentTarget }: Event) => {
    if (target === currentTarget) {
      own.current?.close();
    }
  };
  return (
    <dialog ref={own} aria-labelledby={id} onMouseDown={closeOutside} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
