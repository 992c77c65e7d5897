/**
 * Copies a text. Browsers have the clipboard API in secure contexts alone; elsewhere an older command
 * copies what is selected.
 *
 * @returns false where the browser refuses both: the person has to copy it
 */
export async function copyText(text: string): Promise<boolean> {
  // Undefined on plain HTTP.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  try {
    if (clipboard !== undefined) {
      await clipboard.writeText(text);
      return true;
    }
  } catch {
    // Not permitted: the command has a permission of its own.
  }
  return copySelected(text);
}

/** Selects what a person is to copy. */
export function selectText(element: Element | null): void {
  if (element !== null) {
    getSelection()?.selectAllChildren(element);
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null;
  const field = document.createElement('textarea');
  field.className = 'unseen';
  field.readOnly = true;
  field.value = text;
  // Nothing beside an open dialog can be selected.
  (focused?.closest('dialog') ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    field.remove();
    focused?.focus();
  }
}
