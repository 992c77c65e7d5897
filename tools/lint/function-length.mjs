const MAX_LINES = 40;

/** The node whose lines count: of a method all of it, with its decorators. */
function wholeOf(node) {
  const { parent } = node;
  const isMethod =
    parent.type === 'MethodDefinition' ||
    (parent.type === 'Property' && (parent.method || parent.kind !== 'init'));
  return isMethod && parent.value === node ? parent : node;
}

function linesOf(node) {
  const starts = [node, ...(node.decorators ?? [])].map(({ loc }) => loc.start.line);
  return node.loc.end.line - Math.min(...starts) + 1;
}

/** A function has no more than 40 lines, the decorators of a method among them. */
export const functionLength = {
  meta: {
    type: 'suggestion',
    messages: { long: `The function has {{lines}} lines. At most ${MAX_LINES} are allowed.` },
  },
  create(context) {
    const check = (node) => {
      const isCalledAtOnce = node.parent.type === 'CallExpression' && node.parent.callee === node;
      const lines = linesOf(wholeOf(node));
      if (lines > MAX_LINES && (node.type === 'FunctionDeclaration' || !isCalledAtOnce)) {
        context.report({ node, messageId: 'long', data: { lines } });
      }
    };
    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
    };
  },
};
