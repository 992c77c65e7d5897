/** First words of a comment that has no subject or no verb. */
const FRAGMENT = /^(What|Whether|How (many|much|long|often|far)|Who|Whom|Whose|Others|Those|Of) /;
/** Words of the plain-words table in CONTRIBUTING.md. */
const UNPLAIN =
  /\b(nobody|somebody|whoever|whom|anew|beside|tell|tells|told|put out|gives? way|anybody)\b/i;
/** A tag such as `@throws` begins a part of its own; a directive is read by a program. */
const DIRECTIVE = /^(@|eslint|oxlint|v8 ignore|[#/!*]|https?:)/;
/** A verb in the third person, a modal verb, or the number of a rule of the specification. */
const TITLE = /^(?:[a-z]+(?:-[a-z]+)*s|can|cannot|may|must|never|[%$\d].*)\b/;
const TESTS = /^(it|test)$/;

/** The sentences of a comment without its markers. */
function textOf(comment) {
  return comment.value
    .split('\n')
    .map((line) => line.replace(/^\s*\*+ ?/, '').trim())
    .join(' ')
    .trim();
}

/** Comments are whole sentences in plain words. */
export const plainComments = {
  meta: {
    type: 'suggestion',
    messages: {
      fragment: 'Write a sentence with a subject and a verb: "{{first}}" begins a fragment.',
      word: 'Write a plain word in place of "{{word}}".',
    },
  },
  create(context) {
    return {
      Program(program) {
        for (const comment of context.sourceCode.getAllComments()) {
          const text = textOf(comment);
          if (text === '' || DIRECTIVE.test(text)) {
            continue;
          }
          const fragment = FRAGMENT.exec(text);
          const word = UNPLAIN.exec(text);
          if (fragment !== null) {
            const data = { first: fragment[0] };
            context.report({ loc: comment.loc, node: program, messageId: 'fragment', data });
          }
          if (word !== null) {
            context.report({
              loc: comment.loc,
              node: program,
              messageId: 'word',
              data: { word: word[0] },
            });
          }
        }
      },
    };
  },
};

/** The text of a title, with `%s` for each value in a template; null for any other expression. */
function titleOf(node) {
  if (node?.type === 'TemplateLiteral') {
    return node.quasis.map(({ value }) => value.cooked).join('%s');
  }
  return typeof node?.value === 'string' ? node.value : null;
}

/** The title of a test begins with its verb, so that a report can be read line by line. */
export const testTitle = {
  meta: {
    type: 'suggestion',
    messages: { verb: 'Begin the title with a verb in the present tense: "{{title}}".' },
  },
  create(context) {
    return {
      CallExpression(node) {
        let callee = node.callee;
        while (callee.type === 'CallExpression' || callee.type === 'TaggedTemplateExpression') {
          callee = callee.callee ?? callee.tag;
        }
        const name = callee.type === 'MemberExpression' ? callee.object.name : callee.name;
        const [given] = node.arguments;
        const title = titleOf(given);
        if (!TESTS.test(name ?? '') || title === null || node.arguments.length < 2) {
          return;
        }
        if (!TITLE.test(title)) {
          context.report({ node: given, messageId: 'verb', data: { title } });
        }
      },
    };
  },
};
