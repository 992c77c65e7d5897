/**
 * Takes the indentation off the programs, a twentieth of them. Lines stay lines, so that a
 * stack trace names one; text inside templates stays as it is.
 *
 * @type {import('rolldown').Plugin}
 */
export const unindented = {
  name: 'unindented',
  // Not sooner: the linker prints the code once more when it leaves out comments.
  generateBundle(_options, bundle) {
    for (const part of Object.values(bundle)) {
      if (part.type === 'chunk') {
        part.code = withoutIndentation(part.code, this.parse(part.code));
      }
    }
  },
};

function withoutIndentation(code, program) {
  const texts = [];
  collectTexts(program, texts);
  texts.sort((one, other) => one.start - other.start);
  let next = 0;
  return code.replaceAll(/^\t+/gm, (indentation, at) => {
    while (next < texts.length && texts[next].end < at) {
      next += 1;
    }
    return next < texts.length && texts[next].start < at ? indentation : '';
  });
}

/** The fixed parts of all templates. */
function collectTexts(node, texts) {
  if (node.type === 'TemplateElement') {
    texts.push(node);
    return;
  }
  for (const part of Object.values(node)) {
    if (typeof part === 'object' && part !== null) {
      collectTexts(part, texts);
    }
  }
}
