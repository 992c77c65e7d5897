/** The number of the current transaction as 64 bits, so that it never repeats in one database. */
export const TRANSACTION_NUMBER = `CREATE OR REPLACE FUNCTION transaction_number() RETURNS bigint LANGUAGE sql AS
  $$ SELECT pg_current_xact_id()::text::bigint $$`;

/**
 * Ends sessions at backends, and stores the events that report it, in the transaction of the cause.
 * @param condition of one index alone: the plan is kept for a connection, and made for the table as it was then
 */
const endWhere = (condition: string): string => `
  WITH gone AS (
    DELETE FROM resource_session WHERE ${condition}
    RETURNING id, resource_server, account_id, expires_at)
  INSERT INTO security_event (id, resource_server, at, sid, account_id, txn)
  SELECT gen_random_uuid(), resource_server, clock_timestamp(), id, account_id, transaction_number()
  FROM gone WHERE expires_at > now();`;

/** An empty table is read whole by the plan that is made for it, and so it is once it has many rows. */
const LANGUAGE = 'LANGUAGE plpgsql SET enable_seqscan = off';

/** Statements on the grants of programs, which the functions have since their migration. */
const NO_GRANTS = { sessionsEnded: '', accountEnded: '', identityChanged: '', subjectRefused: '' };

/** Makes the sessions at backends, or grants, of an account due. @param owner the expression of the account */
export const markDue = (table: 'resource_session' | 'program_grant', owner: string): string =>
  `UPDATE ${table} SET judge_at = now(), txn = transaction_number() WHERE account_id = ${owner};`;

/**
 * The database itself writes the events, so that every version of the program does. An exchange holds
 * the account FOR SHARE; each trigger locks the account before it looks for sessions at backends, so
 * that it sees those of every exchange that did not see its change.
 */
export const securityEventFunctions = (grants = NO_GRANTS): string[] => [
  `CREATE OR REPLACE FUNCTION report_ended_sessions() RETURNS trigger ${LANGUAGE} AS $$
  BEGIN
    IF EXISTS (SELECT FROM ended WHERE expires_at > now()) THEN
      PERFORM FROM account
        WHERE id = ANY (ARRAY(SELECT account_id FROM ended WHERE expires_at > now()))
        ORDER BY id FOR NO KEY UPDATE;
      ${endWhere('session_id = ANY (ARRAY(SELECT id FROM ended))')}
      ${grants.sessionsEnded}
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE OR REPLACE FUNCTION report_ended_account() RETURNS trigger ${LANGUAGE} AS $$
  BEGIN
    ${endWhere('account_id = OLD.id')}
    ${grants.accountEnded}
    RETURN OLD;
  END $$`,
  `CREATE OR REPLACE FUNCTION mark_resource_sessions_due() RETURNS trigger ${LANGUAGE} AS $$
  BEGIN
    PERFORM FROM account WHERE id = OLD.account_id FOR NO KEY UPDATE;
    ${markDue('resource_session', 'OLD.account_id')}
    ${grants.identityChanged}
    RETURN NULL;
  END $$`,
  `CREATE OR REPLACE FUNCTION mark_resource_sessions_of_subject_due() RETURNS trigger ${LANGUAGE} AS $$
  DECLARE
    owner uuid;
  BEGIN
    SELECT account_id INTO owner FROM identity
      WHERE provider = NEW.provider AND subject = NEW.subject;
    PERFORM FROM account WHERE id = owner FOR NO KEY UPDATE;
    ${markDue('resource_session', 'owner')}
    ${grants.subjectRefused}
    RETURN NULL;
  END $$`,
];

export const SECURITY_EVENT_TRIGGERS = [
  `CREATE OR REPLACE TRIGGER session_ended AFTER DELETE ON session
  REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION report_ended_sessions()`,
  `CREATE OR REPLACE TRIGGER account_sessions_ended
  AFTER UPDATE OF disabled_at, token_epoch ON account FOR EACH ROW
  WHEN (OLD.token_epoch <> NEW.token_epoch
    OR (OLD.disabled_at IS NULL AND NEW.disabled_at IS NOT NULL))
  EXECUTE FUNCTION report_ended_account()`,
  // Before the sessions of the account are deleted with it.
  `CREATE OR REPLACE TRIGGER account_deleted BEFORE DELETE ON account
  FOR EACH ROW EXECUTE FUNCTION report_ended_account()`,
  `CREATE OR REPLACE TRIGGER identity_judged_again
  AFTER UPDATE OF account_id, provider, eligibility_status, eligibility_reason,
    consecutive_failures ON identity FOR EACH ROW
  WHEN ((OLD.account_id, OLD.provider, OLD.eligibility_status, OLD.eligibility_reason,
      OLD.consecutive_failures)
    IS DISTINCT FROM (NEW.account_id, NEW.provider, NEW.eligibility_status,
      NEW.eligibility_reason, NEW.consecutive_failures))
  EXECUTE FUNCTION mark_resource_sessions_due()`,
  `CREATE OR REPLACE TRIGGER identity_removed AFTER DELETE ON identity
  FOR EACH ROW EXECUTE FUNCTION mark_resource_sessions_due()`,
  `CREATE OR REPLACE TRIGGER identity_signal_refused AFTER INSERT OR UPDATE OF is_allowed ON identity_signal
  FOR EACH ROW WHEN (NOT NEW.is_allowed) EXECUTE FUNCTION mark_resource_sessions_of_subject_due()`,
];

export const DROP_SECURITY_EVENT_FUNCTIONS =
  'DROP FUNCTION report_ended_sessions(), report_ended_account(), mark_resource_sessions_due(), mark_resource_sessions_of_subject_due(), transaction_number()';
