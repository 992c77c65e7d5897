import type { ComponentChildren, TargetedMouseEvent } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, type ButtonProps } from './button.js';

interface DialogProps {
  readonly title: string;
  /** The content, which may close the dialog. */
  readonly children: (close: () => void) => ComponentChildren;
}

interface DialogButtonProps extends DialogProps, Omit<ButtonProps, 'children' | 'text' | 'title'> {
  /** The text of the button. */
  readonly open: string;
  readonly onOpen?: () => void;
}

/** Opens a dialog, with new content each time. */
export function DialogButton({ open, title, onOpen, children, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const onClick = () => {
    onOpen?.();
    setOpen(true);
  };
  return (
    <>
      <Button {...button} onClick={onClick} text={open} />
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          {children}
        </Dialog>
      )}
    </>
  );
}

/** Escape and a click outside close it without an action. */
function Dialog({ title, onClose, children }: DialogProps & { readonly onClose: () => void }) {
  const id = useId();
  const own = useRef<HTMLDialogElement>(null);
  const close = () => own.current?.close();
  // With its content, so that `autofocus` works.
  useLayoutEffect(() => own.current?.showModal(), []);
  const closeOutside = (event: TargetedMouseEvent<HTMLDialogElement>) => {
    const { target, currentTarget, clientX: x, clientY: y } = event;
    const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
    const isInside = left <= x && x <= right && top <= y && y <= bottom;
    // The target is the dialog also for its padding and its scroll bar.
    if (target === currentTarget && !isInside) {
      close();
    }
  };
  return (
    <dialog ref={own} aria-labelledby={id} onMouseDown={closeOutside} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children(close)}
    </dialog>
  );
}
