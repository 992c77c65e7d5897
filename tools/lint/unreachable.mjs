/** Code runs in some case; of what the linter's own rule does not see, the bodies of `catch`. */
export const noUnreachable = {
  meta: { type: 'problem', messages: { unreachable: 'This code is never reached.' } },
  create(context) {
    const outer = [];
    let segments = new Set();
    const begin = (segment) => segments.add(segment);
    const end = (segment) => segments.delete(segment);
    return {
      onCodePathStart() {
        outer.push(segments);
        segments = new Set();
      },
      onCodePathEnd() {
        segments = outer.pop();
      },
      onCodePathSegmentStart: begin,
      onCodePathSegmentEnd: end,
      onUnreachableCodePathSegmentStart: begin,
      onUnreachableCodePathSegmentEnd: end,
      'CatchClause > BlockStatement'(node) {
        if (![...segments].some(({ reachable }) => reachable)) {
          context.report({ node, messageId: 'unreachable' });
        }
      },
    };
  },
};
