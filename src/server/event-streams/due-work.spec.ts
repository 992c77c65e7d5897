import { DueWork } from './due-work.js';

describe(DueWork.name, () => {
  it('runs once more for calls during a run', async () => {
    let end: () => void = () => undefined;
    let runs = 0;
    const work = new DueWork(() => {
      runs += 1;
      return new Promise((done) => (end = done));
    });
    const calls = [work.run(), work.run(), work.run()];
    expect(runs).toBe(1);
    end();
    await Promise.resolve();
    expect(runs).toBe(2);
    end();
    await Promise.all(calls);
    expect(runs).toBe(2);
  });

  it.each([0, 1, 2, 3, 4, 5])('runs after a call %d turns after the last one', async (turns) => {
    let runs = 0;
    const work = new DueWork(async () => {
      await Promise.resolve();
      runs += 1;
    });
    void work.run();
    for (let turn = 0; turn < turns; turn += 1) {
      await Promise.resolve();
    }
    let begun = runs;
    await work.run().then(() => (begun = runs - begun));
    expect(begun).toBeGreaterThan(0);
  });

  it('settles when no work is due', async () => {
    let isOver = false;
    const work = new DueWork(async () => {
      await new Promise((done) => setImmediate(done));
      isOver = true;
    });
    await work.settled();
    expect(isOver).toBe(false);
    void work.run();
    await work.settled();
    expect(isOver).toBe(true);
  });
});
