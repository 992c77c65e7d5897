import {
  addressInAscii,
  composed,
  domainInAscii,
  foldCase,
  isDomainOf,
} from './comparable-names.js';

describe(domainInAscii.name, () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['exämple.com', 'xn--exmple-cua.com'],
    ['EXÄMPLE.com', 'xn--exmple-cua.com'],
    ['exa\u0308mple.com', 'xn--exmple-cua.com'],
    ['XN--exmple-cua.com', 'xn--exmple-cua.com'],
    ['straße.example', 'xn--strae-oqa.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['\u212aelvin.example', '\u212aelvin.example'],
    ['ｅxample.com', 'ｅxample.com'],
    ['exämple.com/other', 'xn--exmple-cua.com/other'],
    ['ä/other.com', 'ä/other.com'],
    ['ä:8080', 'ä:8080'],
    ['ä%2e.com', 'ä%2e.com'],
    ['ä。com', 'ä。com'],
    ['１２７.0.0.1', '１２７.0.0.1'],
    ['', ''],
  ])('writes %j as %j', (domain, written) => {
    expect(domainInAscii(domain)).toBe(written);
  });
});

describe(isDomainOf.name, () => {
  it('compares whole domains, however their letters are written', () => {
    expect(isDomainOf(['exämple.com'], 'xn--exmple-cua.com')).toBe(true);
    expect(isDomainOf(['xn--exmple-cua.com'], 'EXÄMPLE.COM')).toBe(true);
    expect(isDomainOf(['exämple.com'], 'a.exämple.com')).toBe(false);
    expect(isDomainOf(['kelvin.example'], '\u212aelvin.example')).toBe(false);
    expect(isDomainOf(['example.com'], 'ｅxample.com')).toBe(false);
  });
});

describe(addressInAscii.name, () => {
  it('changes the domain alone', () => {
    expect(addressInAscii('Ädä@EXÄMPLE.com')).toBe('Ädä@xn--exmple-cua.com');
    expect(addressInAscii('ada')).toBe('ada');
  });
});

describe(composed.name, () => {
  it.each([
    ['Bu\u0308ro', 'B\u00fcro'],
    ['\u212bngstrom', '\u00c5ngstrom'],
    ['\u212aelvin', '\u212aelvin'],
    ['a\u037eb', 'a\u037eb'],
  ])('writes %j as %j', (text, written) => {
    expect(composed(text)).toBe(written);
  });
});

describe(foldCase, () => {
  it('folds letters, and none from outside ASCII into it', () => {
    expect(foldCase('ACME-Größe')).toBe('acme-größe');
    expect(foldCase('\u212A')).toBe('\u212A');
  });
});
