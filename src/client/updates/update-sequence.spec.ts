import fc from 'fast-check';
import { UpdateSequence } from './update-sequence.js';

const gap = (from: number, to: number, isReset = false) => ({ from, to, isReset });

function after(lastSeq: number | null): UpdateSequence {
  const sequence = new UpdateSequence(lastSeq);
  sequence.begin();
  return sequence;
}

describe('hello', () => {
  it.each<[string, number | null, number, unknown]>([
    ['of a first connection: nothing was missed', null, 7, null],
    ['where nothing happened since', 7, 7, null],
    ['one ahead', 7, 8, gap(8, 8)],
    ['far ahead', 7, 9_007_199_254_740_991, gap(8, 9_007_199_254_740_991)],
    ['behind what was seen: the data was put back', 7, 5, gap(1, 5, true)],
    ['of an account that starts anew', 7, 0, gap(1, 0, true)],
  ])('%s', (_name, lastSeq, seq, expected) => {
    const sequence = after(lastSeq);
    expect(sequence.hello(seq)).toEqual(expected);
    expect(sequence.position).toBe(seq);
  });

  it('that was overtaken by an update is no reset', () => {
    const sequence = after(3);
    expect(sequence.update(4)).toBe(false);
    expect(sequence.hello(3)).toBeNull();
    expect(sequence.position).toBe(4);
  });

  it('names what the updates before it leave open', () => {
    const sequence = after(3);
    expect(sequence.update(6)).toBe(true);
    expect(sequence.hello(6)).toEqual(gap(4, 5));
    expect(sequence.position).toBe(6);
  });

  it('of a second connection counts from what was seen in the first', () => {
    const sequence = after(null);
    sequence.hello(2);
    sequence.update(3);
    sequence.begin();
    expect(sequence.hello(5)).toEqual(gap(4, 5));
    sequence.begin();
    expect(sequence.hello(5)).toBeNull();
  });
});

describe('update', () => {
  it('in turn leaves nothing missing', () => {
    const sequence = after(0);
    expect([1, 2, 3].map((seq) => sequence.update(seq))).toEqual([false, false, false]);
    expect(sequence.settle()).toBeNull();
  });

  it('out of turn is missing one until that comes', () => {
    const sequence = after(0);
    expect([2, 3, 1].map((seq) => sequence.update(seq))).toEqual([true, true, false]);
    expect(sequence.settle()).toBeNull();
    expect(sequence.position).toBe(3);
  });

  it('that never comes is missed', () => {
    const sequence = after(0);
    sequence.update(2);
    sequence.update(5);
    expect(sequence.settle()).toEqual(gap(1, 4));
    expect(sequence.settle()).toBeNull();
  });

  it('that comes twice, or late, changes nothing', () => {
    const sequence = after(4);
    expect([4, 2, 5, 5].map((seq) => sequence.update(seq))).toEqual([false, false, false, false]);
    expect(sequence.position).toBe(5);
  });

  it('finds a gap exactly where one is missing, in whatever order they come', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 30 })), (seqs) => {
        const sequence = after(0);
        seqs.forEach((seq) => sequence.update(seq));
        const newest = Math.max(0, ...seqs);
        const missing = Array.from({ length: newest }, (_value, index) => index + 1).filter(
          (seq) => !seqs.includes(seq),
        );
        const expected = missing.length === 0 ? null : gap(missing[0]!, missing.at(-1)!);
        expect(sequence.settle()).toEqual(expected);
        expect(sequence.position).toBe(newest);
      }),
    );
  });
});
