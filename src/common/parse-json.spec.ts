import { isNestedTooDeep, MAX_JSON_DEPTH, repeatedName } from './parse-json.js';

const nested = (depth: number): string => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;

describe(isNestedTooDeep.name, () => {
  it.each([
    ['64 levels', nested(MAX_JSON_DEPTH), false],
    ['66 levels', nested(MAX_JSON_DEPTH + 2), true],
    ['many values on few levels', `[${nested(8).concat(',').repeat(1000)}1]`, false],
    ['brackets in a text', JSON.stringify({ a: '['.repeat(1000) }), false],
    ['brackets after an escaped quote', JSON.stringify(['"'.concat('['.repeat(1000))]), false],
    ['brackets after an escaped backslash', `["\\\\",${'['.repeat(70)}`, true],
    ['brackets after many backslashes', `["${'\\\\'.repeat(999)}",${'{'.repeat(70)}`, true],
    ['a text without end', `["${'['.repeat(1000)}`, false],
    ['half of a tree', '['.repeat(70), true],
    ['nothing', '', false],
  ])('judges %s', (_what, json, isTooDeep) => {
    expect(isNestedTooDeep(json)).toBe(isTooDeep);
  });
});

describe(repeatedName.name, () => {
  it.each([
    ['[{"id":1,"allow":{"id":2}},{"id":3}]', null],
    ['{"a":"a","b":["a","a"],"c":"\\"a\\":"}', null],
    ['{"allow":{"a":1},"b":[{}],"allow":{}}', 'allow'],
    ['[{"a":{"b":1,"b" : 2}}]', 'b'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"constructor":1,"__proto__":2}', null],
    ['7', null],
  ])('finds in %s the name %j', (json, name) => {
    expect(JSON.parse(json)).toBeDefined();
    expect(repeatedName(json)).toBe(name);
  });
});
