/** Cases that the linter's own rules of these names miss. */

/** A member, or a pattern, is not assigned to itself. */
export const noSelfAssign = {
  meta: { type: 'problem', messages: { self: 'This is assigned to itself.' } },
  create(context) {
    const { sourceCode } = context;
    return {
      AssignmentExpression(node) {
        const [left, right] = [node.left, node.right].map((side) => sourceCode.getText(side));
        if (left === right && /^(=|&&=|\|\|=|\?\?=)$/.test(node.operator)) {
          context.report({ node, messageId: 'self' });
        }
      },
    };
  },
};

/** A union or an intersection does not name the same type twice. */
export const noDuplicateTypes = {
  meta: { type: 'suggestion', messages: { twice: 'This type is named twice.' } },
  create(context) {
    const check = ({ types }) => {
      const texts = types.map((type) => context.sourceCode.getText(type).replace(/\s+/g, ' '));
      const node = types.find((_, index) => texts.indexOf(texts[index]) < index);
      if (node) {
        context.report({ node, messageId: 'twice' });
      }
    };
    return { TSUnionType: check, TSIntersectionType: check };
  },
};

function isInTypeQuery({ identifier }) {
  let { parent } = identifier;
  while (parent?.type === 'TSQualifiedName') {
    ({ parent } = parent);
  }
  return /^TSType(Query|Predicate)$/.test(parent?.type);
}

function isExported({ defs }) {
  return defs.some(({ node, type }) => {
    if (type === 'Parameter' || type === 'CatchClause') {
      return false;
    }
    const statement = node.type === 'VariableDeclarator' ? node.parent : node;
    return /^Export/.test(statement.parent?.type);
  });
}

function variableOf(scope, name) {
  return scope === null ? undefined : (scope.set.get(name) ?? variableOf(scope.upper, name));
}

/** A class extends a name or an import: the rules of unsafe types do not look into `extends`. */
export const noMemberSuperclass = {
  meta: { type: 'problem', messages: { member: 'Give the class that this extends a name first.' } },
  create(context) {
    const isImported = (object) =>
      variableOf(context.sourceCode.getScope(object), object.name)?.defs[0]?.type ===
      'ImportBinding';
    const isNamed = (node) => {
      switch (node.type) {
        case 'Identifier':
        case 'Literal':
          return true;
        case 'MemberExpression':
          return isImported(node.object);
        case 'CallExpression':
          return [node.callee, ...node.arguments].every(isNamed);
        default:
          return false;
      }
    };
    const check = ({ superClass: node }) => {
      if (node && !isNamed(node)) {
        context.report({ node, messageId: 'member' });
      }
    };
    return { ClassDeclaration: check, ClassExpression: check };
  },
};

/** A value is used for more than its type. */
export const noTypeOnlyValue = {
  meta: { type: 'problem', messages: { type: '"{{name}}" is used only for its type.' } },
  create(context) {
    const reported = new Set();
    return {
      'TSTypeQuery Identifier'(node) {
        const variable = variableOf(context.sourceCode.getScope(node), node.name);
        const isLocal = variable?.defs.length > 0 && variable.defs[0].type !== 'ImportBinding';
        if (!isLocal || reported.has(variable) || isExported(variable)) {
          return;
        }
        const reads = variable.references.filter((reference) => reference.isRead());
        const isQueried = reads.some(({ identifier }) => identifier === node);
        if (isQueried && reads.every(isInTypeQuery)) {
          reported.add(variable);
          context.report({ node, messageId: 'type', data: { name: node.name } });
        }
      },
    };
  },
};

/** A parameter with a default is read, though one after it is. */
export const noUnusedDefault = {
  meta: { type: 'problem', messages: { unused: '"{{name}}" is never used.' } },
  create(context) {
    const check = (fn) => {
      const left = fn.params.map((parameter) => parameter.left?.name);
      for (const variable of context.sourceCode.getDeclaredVariables(fn)) {
        if (left.includes(variable.name) && !variable.references.some((one) => one.isRead())) {
          context.report({ node: fn, messageId: 'unused', data: { name: variable.name } });
        }
      }
    };
    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
    };
  },
};
