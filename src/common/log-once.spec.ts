import { LogOnce } from './log-once.js';

describe(LogOnce.name, () => {
  it('logs a message again only when it differs or the condition has ended', () => {
    const lines: string[] = [];
    const once = new LogOnce((line) => lines.push(line));
    for (const message of ['a', 'a', 'b', 'a']) {
      once.write(message);
    }
    once.clear();
    once.write('a');
    expect(lines).toEqual(['a', 'b', 'a', 'a']);
  });

  it('logs one message of each key', () => {
    const lines: string[] = [];
    const once = new LogOnce((line) => lines.push(line));
    once.write('first', 'away');
    once.write('second', 'away');
    expect(lines).toEqual(['first']);
  });
});
