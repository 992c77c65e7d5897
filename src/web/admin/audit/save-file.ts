/** Offers a file that this page has made, as a download of the browser. */
export function saveFile(contents: Blob, name: string): void {
  const url = URL.createObjectURL(contents);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
