/** What the last re-check of an identity said. `unknown` is not a no. */
export type EligibilityStatus = 'unknown' | 'eligible' | 'ineligible';

/** The cached eligibility result on an identity record, as clients see it. */
export interface Eligibility {
  readonly status: EligibilityStatus;
  readonly reason: string | null;
  /** Unix milliseconds. */
  readonly checkedAt: number | null;
  readonly nextCheckAt: number | null;
}
