import { JsonLogger } from './json-logger.js';
import { terminalLines } from './terminal-lines.js';

describe(terminalLines.name, () => {
  const logged = (log: (logger: JsonLogger) => void): string => {
    let text = '';
    log(new JsonLogger('info', terminalLines({ write: (more) => (text += more) })));
    return text;
  };

  it('writes the time, the level unless it is info, and the message', () => {
    expect(logged((log) => log.log('Listening.', 'Gatehouse'))).toMatch(
      /^\d\d:\d\d:\d\d Listening\.\n$/,
    );
    expect(logged((log) => log.warn('The disk is full.'))).toMatch(
      /^\d\d:\d\d:\d\d warn The disk is full\.\n$/,
    );
  });

  it('writes no character that a terminal acts on', () => {
    const text = logged((log) => log.warn('a\u001b[2Jb\u009bc\u202ed\ne'));
    expect(text).toMatch(/ warn a\ufffd\[2Jb\ufffdc\ufffdd\ufffde\n$/);
  });

  it('writes the other fields after the message, and no secret', () => {
    const text = logged((log) => log.error({ msg: 'Failed.', requestId: 'r1', token: 'abc' }));
    expect(text).toContain('error Failed. requestId="r1" token="[redacted]"');
  });
});
