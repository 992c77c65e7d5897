/** Standard functions that only return a value, or throw. */
const FUNCTIONS = [
  ...['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'atob', 'btoa'],
  ...['BigInt', 'Number', 'String', 'Symbol', 'isFinite', 'isNaN', 'parseFloat', 'parseInt'],
];
const NAMESPACES = ['Array', 'BigInt', 'Intl', 'JSON', 'Math', 'Number', 'String', 'Symbol', 'URL'];
const CLASSES = ['Date', 'RegExp', 'TextDecoder', 'URL', 'URLSearchParams'];
const EFFECTS = ['revokeObjectURL'];

const WRAPPERS = {
  AwaitExpression: 'argument',
  ChainExpression: 'expression',
  UnaryExpression: 'argument',
};

function innermost(node) {
  const inner = WRAPPERS[node.type];
  return inner === undefined ? node : innermost(node[inner]);
}

function isWithoutEffect({ type, callee }) {
  if (type === 'NewExpression') {
    return CLASSES.includes(callee.name) || callee.object?.name === 'Intl';
  }
  return (
    type === 'CallExpression' &&
    (FUNCTIONS.includes(callee.name) ||
      (NAMESPACES.includes(callee.object?.name) && !EFFECTS.includes(callee.property.name)))
  );
}

/**
 * The result of a call that has no effect is used. Linkers and bundlers remove such a call where its result is not, and
 * with it a check that was made for the exception.
 */
export const usedResult = {
  meta: {
    type: 'problem',
    messages: { unused: 'Use the result: a linker removes a call that only throws.' },
  },
  create(context) {
    return {
      ExpressionStatement(node) {
        if (isWithoutEffect(innermost(node.expression))) {
          context.report({ node, messageId: 'unused' });
        }
      },
    };
  },
};
