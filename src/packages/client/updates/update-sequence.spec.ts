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
    ['reports no gap at a first connection', null, 7, null],
    ['reports no gap without a new update', 7, 7, null],
    ['reports a gap of one update', 7, 8, gap(8, 8)],
    ['reports a gap of many updates', 7, 9_007_199_254_740_991, gap(8, 9_007_199_254_740_991)],
    ['reports a reset to an earlier number', 7, 5, gap(1, 5, true)],
    ['reports a reset to zero', 7, 0, gap(1, 0, true)],
  ])('%s', (_name, lastSeq, seq, expected) => {
    const sequence = after(lastSeq);
    expect(sequence.hello(seq)).toEqual(expected);
    expect(sequence.position).toBe(seq);
  });

  it('ignores a hello that an update overtook', () => {
    const sequence = after(3);
    expect(sequence.update(4)).toBe(false);
    expect(sequence.hello(3)).toBeNull();
    expect(sequence.position).toBe(4);
  });

  it('reports the gap that earlier updates left', () => {
    const sequence = after(3);
    expect(sequence.update(6)).toBe(true);
    expect(sequence.hello(6)).toEqual(gap(4, 5));
    expect(sequence.position).toBe(6);
  });

  it('continues a second connection from the first', () => {
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
  it('reports no gap when updates arrive in order', () => {
    const sequence = after(0);
    expect([1, 2, 3].map((seq) => sequence.update(seq))).toEqual([false, false, false]);
    expect(sequence.settle()).toBeNull();
  });

  it('waits for a missing update that arrives late', () => {
    const sequence = after(0);
    expect([2, 3, 1].map((seq) => sequence.update(seq))).toEqual([true, true, false]);
    expect(sequence.settle()).toBeNull();
    expect(sequence.position).toBe(3);
  });

  it('reports an update that never arrives', () => {
    const sequence = after(0);
    sequence.update(2);
    sequence.update(5);
    expect(sequence.settle()).toEqual(gap(1, 4));
    expect(sequence.settle()).toBeNull();
  });

  it('ignores an update that comes twice, or late', () => {
    const sequence = after(4);
    expect([4, 2, 5, 5].map((seq) => sequence.update(seq))).toEqual([false, false, false, false]);
    expect(sequence.position).toBe(5);
  });

  it('finds a gap exactly where an update is missing, in any order of arrival', () => {
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
