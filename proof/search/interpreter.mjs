import { BUILT_IN } from './operators.mjs';

/**
 * Compiles the modules that `quint compile --target json` prints to functions, so that the search explores the same
 * source as the traces. Values are numbers, booleans, strings, objects (records, and maps from strings), and sorted
 * arrays (sets).
 *
 * @param {{ modules: { name: string, declarations: object[] }[], main: string }} compiled
 */
export function interpret({ modules, main }) {
  const { declarations } = modules.find(({ name }) => name === main);
  return new Interpreter(declarations);
}

class Interpreter {
  /** The variables in their order, each with its type. */
  variables = [];
  #definitions = new Map();
  #compiled = new Map();
  #slots = new Map();
  /** Values of parameters and local names. Quint has no recursion, so each name has one place. */
  #local = [];
  #now = [];
  #next = [];

  constructor(declarations) {
    for (const declaration of declarations) {
      if (declaration.kind === 'var') {
        const { name, typeAnnotation } = declaration;
        this.variables.push({ name: name.split('::').at(-1), id: name, type: typeAnnotation });
      } else if (declaration.kind === 'def') {
        this.#definitions.set(declaration.name, declaration);
      }
    }
    this.indices = new Map(this.variables.map(({ id }, index) => [id, index]));
  }

  /** The value of a definition that depends on no variable. */
  constant(name) {
    return this.#expression({ kind: 'name', name: this.#fullName(name) })();
  }

  /** @returns {(visit: (state: unknown[]) => void) => void} the states that an action makes of none */
  initial() {
    return this.#steps('q::init');
  }

  /** @returns the successors of a state: calls `visit` with each, which must not keep the array */
  successors() {
    const steps = this.#steps('q::step');
    return (state, visit) => {
      this.#now = state;
      steps(visit);
    };
  }

  /** @returns {[string, (state: unknown[]) => boolean][]} the parts of the definition `invariants` */
  invariants() {
    const { expr } = this.#definitions.get(this.#fullName('invariants'));
    return expr.args.map((part) => {
      const holds = this.#expression(part);
      const check = (state) => {
        this.#now = state;
        return holds();
      };
      return [part.name.split('::').at(-1), check];
    });
  }

  #fullName(name) {
    const found = [...this.#definitions.keys()].find((one) => one.split('::').at(-1) === name);
    if (found === undefined) {
      throw new Error(`The model does not define ${name}.`);
    }
    return found;
  }

  #steps(name) {
    const action = this.#action({ kind: 'name', name });
    return (visit) => {
      this.#next = Array.from({ length: this.variables.length });
      action(() => visit(this.#next));
    };
  }

  #slot(name) {
    if (!this.#slots.has(name)) {
      this.#slots.set(name, this.#slots.size);
    }
    return this.#slots.get(name);
  }

  /** @returns {() => unknown} */
  #expression(node) {
    switch (node.kind) {
      case 'bool':
      case 'str':
        return () => node.value;
      case 'int': {
        const value = Number(node.value);
        return () => value;
      }
      case 'name':
        return this.#name(node.name);
      case 'lambda':
        return this.#lambda(node);
      case 'let':
        return this.#let(node);
      case 'app':
        return this.#application(node);
      default:
        throw new Error(`The interpreter has no expression ${node.kind}.`);
    }
  }

  #name(name) {
    const index = this.indices.get(name);
    if (index !== undefined) {
      return () => this.#now[index];
    }
    const definition = this.#definitions.get(name);
    if (definition === undefined) {
      const slot = this.#slot(name);
      return () => this.#local[slot];
    }
    const body = this.#definition(definition);
    if (definition.qualifier !== 'pureval') {
      return body;
    }
    let value;
    return () => (value ??= body());
  }

  #definition(definition) {
    if (!this.#compiled.has(definition)) {
      this.#compiled.set(definition, this.#expression(definition.expr));
    }
    return this.#compiled.get(definition);
  }

  #lambda({ params, expr }) {
    const slots = params.map(({ name }) => this.#slot(name));
    const body = this.#expression(expr);
    const call = (...values) => {
      for (let index = 0; index < slots.length; index += 1) {
        this.#local[slots[index]] = values[index];
      }
      return body();
    };
    return () => call;
  }

  #let({ opdef, expr }) {
    const slot = this.#slot(opdef.name);
    const value = this.#expression(opdef.expr);
    const body = this.#expression(expr);
    return () => {
      this.#local[slot] = value();
      return body();
    };
  }

  #application({ opcode, args }) {
    const values = args.map((argument) => this.#expression(argument));
    const isOwn = this.#definitions.has(opcode);
    const operator = isOwn ? undefined : BUILT_IN[opcode];
    if (operator !== undefined) {
      return operator(values);
    }
    const callee = this.#name(opcode);
    return () => {
      const given = values.map((value) => value());
      return callee()(...given);
    };
  }

  /**
   * An action in continuation-passing style: it calls `then` once for each way to take it, with the next values set.
   *
   * @returns {(then: () => void) => void}
   */
  #action(node) {
    if (node.kind === 'let') {
      return this.#actionOfLet(node);
    }
    if (node.kind === 'name' && this.#definitions.get(node.name)?.qualifier === 'action') {
      return this.#action(this.#definitions.get(node.name).expr);
    }
    if (node.kind !== 'app') {
      return this.#condition(node);
    }
    switch (node.opcode) {
      case 'actionAll':
        return all(node.args.map((part) => this.#action(part)));
      case 'actionAny':
        return any(node.args.map((part) => this.#action(part)));
      case 'assign':
        return this.#assignment(node);
      case 'ite':
        return this.#choice(node);
      default:
        return this.#call(node);
    }
  }

  #actionOfLet({ opdef, expr }) {
    const slot = this.#slot(opdef.name);
    const body = this.#action(expr);
    if (opdef.qualifier === 'nondet') {
      const choices = this.#expression(opdef.expr.args[0]);
      return (then) => {
        for (const choice of choices()) {
          this.#local[slot] = choice;
          body(then);
        }
      };
    }
    const value = this.#expression(opdef.expr);
    return (then) => {
      this.#local[slot] = value();
      body(then);
    };
  }

  #assignment({ args: [{ name }, expression] }) {
    const index = this.indices.get(name);
    const value = this.#expression(expression);
    return (then) => {
      if (this.#next[index] !== undefined) {
        throw new Error(`${name} is assigned twice in one step.`);
      }
      this.#next[index] = value();
      then();
      this.#next[index] = undefined;
    };
  }

  #choice({ args: [condition, whenTrue, whenFalse] }) {
    const holds = this.#expression(condition);
    const [first, second] = [this.#action(whenTrue), this.#action(whenFalse)];
    return (then) => (holds() ? first(then) : second(then));
  }

  #call(node) {
    const definition = this.#definitions.get(node.opcode);
    if (definition?.qualifier !== 'action') {
      return this.#condition(node);
    }
    const slots = definition.expr.params.map(({ name }) => this.#slot(name));
    const values = node.args.map((argument) => this.#expression(argument));
    if (!this.#compiled.has(definition)) {
      this.#compiled.set(definition, this.#action(definition.expr.expr));
    }
    const body = this.#compiled.get(definition);
    return (then) => {
      const given = values.map((value) => value());
      given.forEach((value, index) => (this.#local[slots[index]] = value));
      body(then);
    };
  }

  #condition(node) {
    const holds = this.#expression(node);
    return (then) => {
      if (holds()) {
        then();
      }
    };
  }
}

function all(parts) {
  return parts.reduceRight(
    (rest, part) => (then) => part(() => rest(then)),
    (then) => then(),
  );
}

function any(parts) {
  return (then) => {
    for (const part of parts) {
      part(then);
    }
  };
}
