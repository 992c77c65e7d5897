/**
 * Without the clipboard API of secure contexts, an older command copies the selection.
 *
 * @returns false if the browser refuses both, so that the person must copy the text
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
    // Not permitted: the command below has its own permission.
  }
  return copySelected(text);
}

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
  // With an open dialog, only its content can be selected.
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
