import ts from 'typescript';

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
  visit(text, (node) => {
    const from = moduleOf(node);
    if (from !== null) {
      found.push({
        from,
        isTypeOnly: isTypeOnly(node),
        isLazy: ts.isCallExpression(node),
        names: namesOf(node),
      });
    }
  });
  return found;
}

/** Returns the identifiers of TypeScript text, its `object.property` pairs, and `new Date()`. */
export function wordsIn(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  visit(text, (node) => {
    if (ts.isIdentifier(node)) {
      words.add(node.text);
    } else if (ts.isPropertyAccessExpression(node)) {
      words.add(`${node.expression.getText()}.${node.name.text}`);
    } else if (ts.isElementAccessExpression(node) && ts.isStringLiteral(node.argumentExpression)) {
      words.add(`${node.expression.getText()}.${node.argumentExpression.text}`);
    } else if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name)) {
      for (const { name, propertyName } of node.name.elements) {
        words.add(`${node.initializer?.getText()}.${(propertyName ?? name).getText()}`);
      }
    } else if (ts.isNewExpression(node) && !node.arguments?.length) {
      words.add(`new ${node.expression.getText()}()`);
    }
  });
  return words;
}

const SUBSCRIPTION = /^(on|once|subscribe|addListener|on[A-Z]\w*)$/;

/** Returns the subscriptions in constructors of classes that Nest creates, as `events.on`. */
export function subscriptionsInConstructors(text: string): string[] {
  const found: string[] = [];
  visit(text, (node) => {
    if (
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      SUBSCRIPTION.test(node.expression.name.text) &&
      isInConstructor(node)
    ) {
      found.push(node.expression.getText());
    }
  });
  return found;
}

function isInConstructor(node: ts.Node): boolean {
  const constructor = ts.findAncestor(node, ts.isConstructorDeclaration);
  return constructor !== undefined && (ts.getDecorators(constructor.parent) ?? []).length > 0;
}

function moduleOf(node: ts.Node): string | null {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    return textOf(node.moduleSpecifier);
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return textOf(node.argument.literal);
  }
  if (ts.isCallExpression(node)) {
    const called = node.expression;
    const isRequire = ts.isIdentifier(called) && called.text === 'require';
    if (isRequire || called.kind === ts.SyntaxKind.ImportKeyword) {
      return textOf(node.arguments[0]);
    }
  }
  return null;
}

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) {
    return true;
  }
  if (ts.isExportDeclaration(node)) {
    return node.isTypeOnly;
  }
  if (!ts.isImportDeclaration(node) || !node.importClause) {
    return false;
  }
  const { phaseModifier, name, namedBindings } = node.importClause;
  if (phaseModifier === ts.SyntaxKind.TypeKeyword) {
    return true;
  }
  return (
    !name &&
    namedBindings !== undefined &&
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.every((element) => element.isTypeOnly)
  );
}

function namesOf(node: ts.Node): string[] {
  const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : undefined;
  return bindings && ts.isNamedImports(bindings)
    ? bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
    : [];
}

function textOf(node: ts.Node | undefined): string | null {
  return node && ts.isStringLiteralLike(node) ? node.text : null;
}

/** The parsed files by their text, because several rules read the same file. */
const parsed = new Map<string, ts.SourceFile>();

function visit(text: string, visitNode: (node: ts.Node) => void): void {
  const source =
    parsed.get(text) ?? ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  parsed.set(text, source);
  const walk = (node: ts.Node): void => {
    visitNode(node);
    ts.forEachChild(node, walk);
  };
  walk(source);
}
