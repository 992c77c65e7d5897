import type { EligibilityRules } from '../policy/eligibility.js';
import type { ProviderSettings } from './settings.js';

/** The rules in an operator's settings of a provider. */
export function rulesOf(settings: ProviderSettings): EligibilityRules {
  switch (settings.type) {
    case 'github':
      return {
        users: settings.allowedUsers,
        // A login of digits only would be taken for somebody's numeric id.
        matchSubjects: false,
        emailDomains: [],
        groupsAny: [],
        groupsAll: [],
        orgs: settings.allowedOrgs,
        orgMatch: settings.orgMatch,
      };
    case 'oidc': {
      const { usersAllowlist: users, ...allow } = settings.allow;
      return { users, matchSubjects: true, ...allow, orgs: [], orgMatch: 'any' };
    }
  }
}
