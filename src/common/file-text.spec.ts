import { decodeFile } from './file-text.js';

describe(decodeFile.name, () => {
  it('removes one byte order mark, and nothing else', () => {
    expect(decodeFile(Buffer.from('\uFEFF\uFEFF text\r\n'))).toEqual({ text: '\uFEFF text\r\n' });
    expect(decodeFile(Buffer.from(''))).toEqual({ text: '' });
    expect(decodeFile(Buffer.from('08ä'))).toEqual({ text: '08ä' });
  });

  it.each(['\uFEFFtext', 'text'])('refuses UTF-16 of either byte order (%j)', (text) => {
    const bytes = Buffer.from(text, 'utf16le');
    const refused = { failure: 'is encoded as UTF-16; save it as UTF-8' };
    expect([decodeFile(bytes), decodeFile(Buffer.from(bytes).swap16())]).toEqual([
      refused,
      refused,
    ]);
  });

  it.each(['3082010a', '30800000', '30810000'])('refuses DER (%s)', (hex) => {
    expect(decodeFile(Buffer.from(hex, 'hex'))).toEqual({
      failure: 'is binary (DER or PKCS #12); convert it to PEM',
    });
  });
});
