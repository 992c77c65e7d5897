import fc from 'fast-check';
import { accentShades, contrastRatio } from './accent.js';

describe(accentShades.name, () => {
  it('keeps a readable colour', () => {
    expect(accentShades('#1f3fa8').light).toEqual({ accent: '#1f3fa8', onAccent: '#ffffff' });
    expect(accentShades('#8fd3ff').dark).toEqual({ accent: '#8fd3ff', onAccent: '#000000' });
  });

  it('is readable in both themes, for any colour', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffff }), (value) => {
        const { light, dark } = accentShades(`#${value.toString(16).padStart(6, '0')}`);
        expect(contrastRatio(light.accent, '#f1f3f0')).toBeGreaterThanOrEqual(4.5);
        expect(contrastRatio(dark.accent, '#1e2422')).toBeGreaterThanOrEqual(4.5);
        expect(contrastRatio(light.accent, light.onAccent)).toBeGreaterThanOrEqual(4.5);
        expect(contrastRatio(dark.accent, dark.onAccent)).toBeGreaterThanOrEqual(4.5);
      }),
    );
  });
});

describe(contrastRatio.name, () => {
  it('is 21 between black and white, and 1 between equals', () => {
    expect(contrastRatio('#000000', '#ffffff')).toBeCloseTo(21);
    expect(contrastRatio('#123456', '#123456')).toBe(1);
  });
});
