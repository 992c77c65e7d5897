/**
 * Writes states as short texts and reads them again. Two states that differ only in the names of equal parts have the
 * same text: the values of a map whose keys are `alike` are sorted.
 */
export class StateCodec {
  #words = [];
  #codes = new Map();
  #writers;
  #readers;
  #text = '';
  #at = 0;

  /**
   * @param {{ name: string, type: object }[]} variables
   * @param {unknown[]} example a state: its maps have the keys of every state
   * @param {string[]} alike keys without a meaning of their own
   */
  constructor(variables, example, alike) {
    this.alike = JSON.stringify(alike);
    const parts = variables.map(({ type }, index) => this.#part(type, example[index]));
    this.#writers = parts.map(({ write }) => write);
    this.#readers = parts.map(({ read }) => read);
  }

  write(state) {
    return this.#writers.map((write, index) => write(state[index])).join('');
  }

  read(text) {
    this.#text = text;
    this.#at = 0;
    return this.#readers.map((read) => read());
  }

  #part(type, example) {
    switch (type.kind) {
      case 'int':
        return this.#character(Number, (code) => code);
      case 'bool':
        return this.#character(Number, (code) => code === 1);
      case 'str':
        return this.#character(
          (word) => this.#codeOf(word),
          (code) => this.#words[code],
        );
      case 'set':
        return this.#set(type);
      case 'rec':
        return this.#fields(
          type.fields.fields.map(({ fieldName, fieldType }) => [fieldName, fieldType]),
          example,
        );
      case 'fun':
        return this.#map(type, example);
      default:
        throw new Error(`The codec has no type ${type.kind}.`);
    }
  }

  #character(toCode, fromCode) {
    return {
      write: (value) => String.fromCharCode(toCode(value)),
      read: () => fromCode(this.#text.charCodeAt(this.#at++)),
    };
  }

  #codeOf(word) {
    if (!this.#codes.has(word)) {
      this.#codes.set(word, this.#words.length);
      this.#words.push(word);
    }
    return this.#codes.get(word);
  }

  #set({ elem }) {
    const { write, read } = this.#part(elem, undefined);
    return {
      write: (set) => String.fromCharCode(set.length) + set.map(write).join(''),
      read: () => {
        const size = this.#text.charCodeAt(this.#at++);
        return Array.from({ length: size }, () => read());
      },
    };
  }

  #fields(fields, example) {
    const parts = fields.map(([name, type]) => [name, this.#part(type, example?.[name])]);
    return {
      write: (record) => parts.map(([name, { write }]) => write(record[name])).join(''),
      read: () => Object.fromEntries(parts.map(([name, { read }]) => [name, read()])),
    };
  }

  #map({ res }, example) {
    const keys = Object.keys(example).toSorted();
    const part = this.#part(res, example[keys[0]]);
    const isAlike = JSON.stringify(keys) === this.alike;
    return {
      write: (map) => {
        const texts = keys.map((key) => part.write(map[key]));
        return (isAlike ? texts.toSorted() : texts).join('');
      },
      read: () => Object.fromEntries(keys.map((key) => [key, part.read()])),
    };
  }
}
