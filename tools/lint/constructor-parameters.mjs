const MAX_PARAMETERS = 6;
const NEST_CLASS = /^(Injectable|Controller|WebSocketGateway)$/;

const isNestClass = ({ expression }) => NEST_CLASS.test(expression.callee?.name);

/** A class that Nest creates has at most six dependencies; one with more has several subjects. */
export const constructorParameters = {
  meta: {
    type: 'suggestion',
    messages: {
      many: `The constructor has {{count}} parameters. At most ${MAX_PARAMETERS} are allowed.`,
    },
  },
  create(context) {
    return {
      ClassDeclaration(node) {
        const made = node.body.body.find(({ kind }) => kind === 'constructor');
        const count = made?.value.params.length ?? 0;
        if (count > MAX_PARAMETERS && node.decorators.some(isNestClass)) {
          context.report({ node: made, messageId: 'many', data: { count } });
        }
      },
    };
  },
};
