import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/**
 * Moves the focus to a heading when it replaces what the person used, so that screen readers announce
 * it. A page that was only loaded keeps the focus where the browser puts it. The focus moves as the heading appears: later
 * it would leave what the person focused meanwhile.
 *
 * @param shown the section, if the heading stays for the next one
 */
export function useFocus(heading: RefObject<HTMLElement | null>, shown = ''): void {
  useLayoutEffect(() => {
    // Undefined in older browsers.
    const { userActivation } = navigator as Partial<Navigator>;
    if (userActivation?.hasBeenActive ?? true) {
      heading.current?.focus();
    }
  }, [shown]);
}
