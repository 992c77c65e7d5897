import { parseSync, Visitor, type ESTree, type VisitorObject } from 'rolldown/utils';

export interface Import {
  /** The module as written. */
  readonly from: string;
  /** True if the import does not exist at run time. */
  readonly isTypeOnly: boolean;
  /** True for `import()`, which loads the module later. */
  readonly isLazy: boolean;
  readonly names: readonly string[];
}

/** Includes re-exports, `import()` and imports of types. */
export function importsIn(text: string): Import[] {
  const found: Import[] = [];
  const add = (from: string | null | undefined, more: Partial<Import> = {}): void => {
    if (typeof from === 'string') {
      found.push({ from, isTypeOnly: false, isLazy: false, names: [], ...more });
    }
  };
  visit(text, {
    ImportDeclaration: ({ source, importKind, specifiers }) => {
      const isTypeOnly = importKind === 'type' || areTypes(specifiers);
      add(source.value, { isTypeOnly, names: specifiers.flatMap(importedName) });
    },
    ExportNamedDeclaration: ({ source, exportKind }) =>
      add(source?.value, { isTypeOnly: exportKind === 'type' }),
    ExportAllDeclaration: ({ source, exportKind }) =>
      add(source.value, { isTypeOnly: exportKind === 'type' }),
    TSImportType: ({ source }) => add(source.value, { isTypeOnly: true }),
    ImportExpression: ({ source }) => add(literalText(source), { isLazy: true }),
    CallExpression: ({ callee, arguments: [argument] }) => {
      if (callee.type === 'Identifier' && callee.name === 'require') {
        add(literalText(argument), { isLazy: true });
      }
    },
  });
  return found;
}

/** Returns the identifiers of TypeScript text, its `object.property` pairs, and `new Date()`. */
export function wordsIn(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  const cut = (node: ESTree.Span | null): string | undefined =>
    node ? text.slice(node.start, node.end) : undefined;
  visit(text, {
    Identifier: ({ name }) => void words.add(name),
    MemberExpression: ({ object, property, computed }) => {
      const name = computed ? literalText(property) : cut(property);
      if (name !== null) {
        words.add(`${cut(object)}.${name}`);
      }
    },
    VariableDeclarator: ({ id, init }) => {
      if (id.type === 'ObjectPattern') {
        for (const one of id.properties) {
          words.add(`${cut(init)}.${cut(one.type === 'Property' ? one.key : one.argument)}`);
        }
      }
    },
    NewExpression: ({ callee, arguments: given }) => {
      if (given.length === 0) {
        words.add(`new ${cut(callee)}()`);
      }
    },
  });
  return words;
}

const SUBSCRIPTION = /^(on|once|subscribe|addListener|on[A-Z]\w*)$/;

/** Returns the subscriptions in constructors of classes that Nest creates, as `events.on`. */
export function subscriptionsInConstructors(text: string): string[] {
  const found: string[] = [];
  /** The classes that contain the visited node; the innermost is the last. */
  const classes: ESTree.Class[] = [];
  /** The ones whose constructor contains it. */
  const constructors: ESTree.Class[] = [];
  const enter = (node: ESTree.Class): void => void classes.push(node);
  const leave = (): void => void classes.pop();
  visit(text, {
    ...{ ClassDeclaration: enter, 'ClassDeclaration:exit': leave },
    ...{ ClassExpression: enter, 'ClassExpression:exit': leave },
    MethodDefinition: ({ kind }) => {
      const [around] = classes.slice(-1);
      if (kind === 'constructor' && around !== undefined) {
        constructors.push(around);
      }
    },
    'MethodDefinition:exit': ({ kind }) => {
      if (kind === 'constructor') {
        constructors.pop();
      }
    },
    CallExpression: ({ callee }) => {
      const isInjectable = (constructors.at(-1)?.decorators.length ?? 0) > 0;
      const isSubscription =
        callee.type === 'MemberExpression' &&
        callee.property.type === 'Identifier' &&
        SUBSCRIPTION.test(callee.property.name);
      if (isInjectable && isSubscription) {
        found.push(text.slice(callee.start, callee.end));
      }
    },
  });
  return found;
}

function areTypes(specifiers: ESTree.ImportDeclaration['specifiers']): boolean {
  return (
    specifiers.length > 0 &&
    specifiers.every((one) => one.type === 'ImportSpecifier' && one.importKind === 'type')
  );
}

function importedName(specifier: ESTree.ImportDeclarationSpecifier): string[] {
  if (specifier.type !== 'ImportSpecifier') {
    return [];
  }
  const { imported } = specifier;
  return [imported.type === 'Literal' ? imported.value : imported.name];
}

function literalText(node: ESTree.Node | undefined): string | null {
  return node?.type === 'Literal' && typeof node.value === 'string' ? node.value : null;
}

/** The parsed files by their text, because several rules read the same file. */
const parsed = new Map<string, ESTree.Program>();

function visit(text: string, visitor: VisitorObject): void {
  const program = parsed.get(text) ?? parse(text);
  parsed.set(text, program);
  new Visitor(visitor).visit(program);
}

function parse(text: string): ESTree.Program {
  for (const lang of ['ts', 'tsx', 'dts'] as const) {
    const { program, errors } = parseSync('source', text, { lang });
    if (errors.length === 0) {
      return program;
    }
  }
  throw new Error(`This is no TypeScript: ${text.slice(0, 200)}`);
}
