import { clearMissingLinks, listMissingTimes, parkColumns, parkRepeated, wordList, wordOf } from './import-row-rules.ts';
import {
  applyRule,
  cutTime,
  type ImportContext,
  type ImportStep,
  parkOrphans,
  sourceTable,
  sqlTime,
  transfer,
} from './import-step.ts';

const POLLS = sourceTable('polls');
const QUESTIONS = sourceTable('poll_questions');
const OPTIONS = sourceTable('poll_options');
const RESPONSES = sourceTable('poll_responses');
const ANSWERS = sourceTable('poll_answers');
const REWARDS = sourceTable('~poll_rewards');

/** Polls with their answers (spec 07 section 4.4); a reward that was given stays given (hazard I19). */
export const pollStep: ImportStep = {
  name: 'polls',
  async prepare(context) {
    await repairPolls(context);
    await repairResponses(context);
    await repairAnswers(context);
    await findRewards(context);
    await transfer(context, { table: 'polls' });
    await transfer(context, { table: 'poll_questions', columns: { sort_order: orderOf('poll_id') } });
    await transfer(context, { table: 'poll_options', columns: { sort_order: orderOf('question_id') } });
    await transfer(context, {
      table: 'poll_responses',
      rest: `LEFT JOIN ${REWARDS} reward ON reward.response_id = s.id`,
      columns: { delivery_state: `'sent'`, reward_transaction_id: 'reward.transaction_id' },
    });
    await transfer(context, {
      table: 'poll_answers',
      rest: `JOIN ${RESPONSES} r ON r.id = s.response_id`,
      createdFrom: ['r.completed_at', 'r.sent_at'],
    });
  },
};

/** Places from 1 without holes, in the order of the source. */
const orderOf = (parent: string) => `row_number() OVER (PARTITION BY s.${parent} ORDER BY s."order" NULLS LAST, s.id)`;

async function repairPolls(context: ImportContext): Promise<void> {
  await clearMissingLinks(context, 'polls', { created_by: 'users' });
  await applyRule(context, {
    ...{ code: 'poll_reward_off', table: 'polls', set: 'reward_enabled = false, reward_amount_kopeks = 0' },
    detail: `jsonb_build_object('reward_enabled', f.reward_enabled, 'reward_amount_kopeks', f.reward_amount_kopeks)`,
    find: `SELECT id, reward_enabled, reward_amount_kopeks FROM ${POLLS}
      WHERE CASE WHEN reward_enabled THEN coalesce(reward_amount_kopeks, 0) <= 0 ELSE reward_amount_kopeks <> 0 END`,
  });
  await parkOrphans(context, 'poll_questions', 'poll_id', 'polls', 'poll_question_orphan');
  await parkOrphans(context, 'poll_options', 'question_id', 'poll_questions', 'poll_option_orphan');
}

async function repairResponses(context: ImportContext): Promise<void> {
  const table = 'poll_responses';
  await parkOrphans(context, table, 'poll_id', 'polls', 'poll_response_orphan');
  await parkOrphans(context, table, 'user_id', 'users', 'poll_response_orphan');
  await parkRepeated(context, { table, columns: 'poll_id, user_id' });
  await applyRule(context, {
    ...{ code: 'poll_reward_off', table, set: 'reward_amount_kopeks = 0' },
    detail: `jsonb_build_object('reward_amount_kopeks', f.kopeks)`,
    find: `SELECT id, reward_amount_kopeks AS kopeks FROM ${RESPONSES} WHERE reward_amount_kopeks < 0`,
  });
  await applyRule(context, {
    ...{ code: 'poll_response_times', table },
    find: `SELECT id FROM ${RESPONSES} WHERE sent_at IS NULL OR (reward_given AND completed_at IS NULL)`,
    set: `sent_at = coalesce(s.sent_at, s.started_at, s.completed_at, ${sqlTime(context.firstSnapshotAt)}),
      completed_at = CASE WHEN s.reward_given THEN coalesce(s.completed_at, s.started_at, s.sent_at, ${sqlTime(context.firstSnapshotAt)}) ELSE s.completed_at END`,
  });
}

async function repairAnswers(context: ImportContext): Promise<void> {
  const table = 'poll_answers';
  await parkOrphans(context, table, 'response_id', 'poll_responses', 'poll_answer_orphan');
  await parkOrphans(context, table, 'question_id', 'poll_questions', 'poll_answer_orphan');
  await parkOrphans(context, table, 'option_id', 'poll_options', 'poll_answer_orphan');
  await applyRule(context, {
    ...{ code: 'poll_answer_mismatch', table, isParked: true },
    find: `SELECT a.id FROM ${ANSWERS} a JOIN ${OPTIONS} o ON o.id = a.option_id WHERE o.question_id <> a.question_id`,
  });
  // A response to one poll cannot answer a question of another.
  await applyRule(context, {
    ...{ code: 'poll_answer_mismatch', table, isParked: true },
    find: `SELECT a.id FROM ${ANSWERS} a JOIN ${RESPONSES} r ON r.id = a.response_id JOIN ${QUESTIONS} q ON q.id = a.question_id WHERE q.poll_id <> r.poll_id`,
  });
  await parkRepeated(context, { table, columns: 'response_id, question_id' });
}

/** The movement of a reward: of that user and amount, within ten minutes after the last answer; each of one response. */
async function findRewards({ sql }: ImportContext): Promise<void> {
  await sql(
    `CREATE UNLOGGED TABLE ${REWARDS} AS SELECT response_id, transaction_id FROM (
       SELECT r.id AS response_id, t.id AS transaction_id, row_number() OVER (PARTITION BY r.id ORDER BY t.created_at, t.id) AS nth,
         row_number() OVER (PARTITION BY t.id ORDER BY r.completed_at DESC, r.id) AS turn
       FROM ${RESPONSES} r JOIN ${sourceTable('transactions')} t ON t.user_id = r.user_id AND t.type = 'poll_reward' AND t.amount_kopeks = r.reward_amount_kopeks
         AND t.created_at BETWEEN r.completed_at AND r.completed_at + interval '10 minutes'
       WHERE r.reward_given AND r.reward_amount_kopeks > 0) c WHERE nth = 1 AND turn = 1`,
  );
}

const CONFIGS = sourceTable('wheel_configs');
const PRIZES = sourceTable('wheel_prizes');
const SPINS = sourceTable('wheel_spins');
const PRIZE_TYPES = wordList(['subscription_days', 'balance_bonus', 'traffic_gb', 'promocode', 'nothing']);
const SPIN_PAYMENTS = wordList(['telegram_stars', 'subscription_days']);
const PRIZE_AMOUNTS = [
  ...['prize_value', 'prize_value_kopeks', 'promo_balance_bonus_kopeks'],
  ...['promo_subscription_days', 'promo_traffic_gb'],
];
const SPIN_AMOUNTS = ['payment_amount', 'payment_value_kopeks', 'prize_value', 'prize_value_kopeks'];
/** Bounds of the numbers of the wheel here, with the value that stands for none. */
const WHEEL_NUMBERS: readonly [column: string, lowest: number, highest: number, standard: number][] = [
  ['spin_cost_stars', 1, 1_000, 10],
  ['spin_cost_days', 1, 30, 1],
  ['rtp_percent', 0, 100, 80],
  ['daily_spin_limit', 0, 100, 5],
  ['min_subscription_days_for_day_payment', 1, 30, 3],
  ['promo_validity_days', 1, 365, 7],
];

/** The fortune wheel with its spins (spec 07 section 4.4). */
export const wheelStep: ImportStep = {
  name: 'wheel',
  async prepare(context) {
    await repairWheel(context);
    await repairPrizes(context);
    await repairSpins(context);
    await transfer(context, { table: 'wheel_configs', columns: { id: '1' } });
    await transfer(context, {
      table: 'wheel_prizes',
      columns: {
        config_id: '1',
        prize_type: wordOf('s.prize_type'),
        color: `CASE WHEN length(s.color) <= 7 THEN s.color ELSE '#3B82F6' END`,
      },
    });
    await transfer(context, {
      table: 'wheel_spins',
      columns: {
        payment_type: `CASE ${wordOf('s.payment_type')} WHEN 'telegram_stars' THEN 'messenger_stars' ELSE ${wordOf('s.payment_type')} END`,
        prize_type: wordOf('s.prize_type'),
        ...{ debit_transaction_id: 'NULL', prize_transaction_id: 'NULL', payment_id: 'NULL' },
      },
      createdFrom: ['s.applied_at'],
    });
  },
};

/** There is one wheel here: that with the lowest id. */
async function repairWheel(context: ImportContext): Promise<void> {
  const table = 'wheel_configs';
  await applyRule(context, {
    ...{ code: 'wheel_config_second', table, isParked: true },
    find: `SELECT id FROM ${CONFIGS} WHERE id > (SELECT min(id) FROM ${CONFIGS})`,
  });
  const isOutside = WHEEL_NUMBERS.map(([column, lowest, highest]) => `${column} BETWEEN ${lowest} AND ${highest} IS NOT TRUE`);
  const bounded = WHEEL_NUMBERS.map(
    ([column, lowest, highest, standard]) =>
      `${column} = least(greatest(coalesce(s.${column}, ${standard}), ${lowest}), ${highest})`,
  );
  const originals = WHEEL_NUMBERS.map(([column]) => `'${column}', s.${column}`);
  await applyRule(context, {
    ...{
      code: 'wheel_bounds',
      table,
      parks: `jsonb_build_object('id', s.id, 'promo_prefix', s.promo_prefix, ${originals.join(', ')})`,
    },
    find: `SELECT id FROM ${CONFIGS} WHERE coalesce(trim(promo_prefix), '') = '' OR ${isOutside.join(' OR ')}`,
    set: `promo_prefix = coalesce(nullif(trim(s.promo_prefix), ''), 'WHEEL'), ${bounded.join(', ')}`,
  });
}

async function repairPrizes(context: ImportContext): Promise<void> {
  const table = 'wheel_prizes';
  await parkOrphans(context, table, 'config_id', 'wheel_configs', 'wheel_prize_orphan');
  const isKnown = `${wordOf('prize_type')} IN ${PRIZE_TYPES} IS TRUE`;
  const originals = PRIZE_AMOUNTS.map((column) => `'${column}', s.${column}`).join(', ');
  await applyRule(context, {
    ...{ code: 'wheel_bounds', table },
    find: `SELECT id, ${isKnown} AS known FROM ${PRIZES} WHERE NOT ${isKnown} OR ${PRIZE_AMOUNTS.map((column) => `${column} < 0`).join(' OR ')}
      OR manual_probability NOT BETWEEN 0 AND 1 OR length(color) > 7`,
    set: `prize_type = CASE WHEN f.known THEN s.prize_type ELSE 'nothing' END, is_active = coalesce(s.is_active, true) AND f.known,
      manual_probability = CASE WHEN s.manual_probability BETWEEN 0 AND 1 THEN s.manual_probability END,
      color = CASE WHEN length(s.color) <= 7 THEN s.color END, ${PRIZE_AMOUNTS.map((column) => `${column} = greatest(s.${column}, 0)`).join(', ')}`,
    parks: `jsonb_build_object('id', s.id, 'prize_type', s.prize_type, 'is_active', s.is_active, 'color', s.color, 'manual_probability', s.manual_probability, ${originals})`,
  });
  await context.sql(`UPDATE ${PRIZES} SET ${zeros(PRIZE_AMOUNTS)} WHERE num_nulls(${PRIZE_AMOUNTS.join(', ')}) > 0`);
}

const zeros = (columns: readonly string[]) => columns.map((column) => `${column} = coalesce(${column}, 0)`).join(', ');

async function repairSpins(context: ImportContext): Promise<void> {
  const table = 'wheel_spins';
  await parkOrphans(context, table, 'user_id', 'users', 'wheel_spin_orphan');
  await applyRule(context, {
    ...{ code: 'wheel_payment_unknown', table, isParked: true },
    find: `SELECT id FROM ${SPINS} WHERE ${wordOf('payment_type')} IN ${SPIN_PAYMENTS} IS NOT TRUE`,
  });
  await clearMissingLinks(context, table, { prize_id: 'wheel_prizes', generated_promocode_id: 'promocodes' });
  await listMissingTimes(context, table);
  await applyRule(context, {
    ...{ code: 'wheel_bounds', table },
    find: `SELECT id FROM ${SPINS} WHERE ${SPIN_AMOUNTS.map((column) => `${column} < 0`).join(' OR ')}`,
    set: SPIN_AMOUNTS.map((column) => `${column} = greatest(s.${column}, 0)`).join(', '),
    parks: `jsonb_build_object('id', s.id, ${SPIN_AMOUNTS.map((column) => `'${column}', s.${column}`).join(', ')})`,
  });
  await context.sql(`UPDATE ${SPINS} SET ${zeros(SPIN_AMOUNTS)} WHERE num_nulls(${SPIN_AMOUNTS.join(', ')}) > 0`);
  await applyRule(context, {
    ...{ code: 'unique_duplicate', table, set: 'telegram_charge_id = NULL' },
    find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY telegram_charge_id ORDER BY id) AS place FROM ${SPINS}
      WHERE telegram_charge_id IS NOT NULL) r WHERE place > 1`,
    parks: `jsonb_build_object('id', s.id, 'telegram_charge_id', s.telegram_charge_id)`,
  });
}

const CONTESTS = sourceTable('referral_contests');
const EVENTS = sourceTable('referral_contest_events');
const TEMPLATES = sourceTable('contest_templates');
const ROUNDS = sourceTable('contest_rounds');
const EVENT_TYPES = wordList(['subscription_purchase', 'referral_registration']);
/** The time of a daily summary in a form that ours has; the source may have fractions of a second. */
const SUMMARY_TIME = "substring(daily_summary_time from '^(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d')";

/** Contests of referrers (spec 07 section 4.4). */
export const referralContestStep: ImportStep = {
  name: 'contests of referrers',
  async prepare(context) {
    await repairContests(context);
    await repairEvents(context);
    await parkOrphans(
      context,
      'referral_contest_virtual_participants',
      'contest_id',
      'referral_contests',
      'contest_participant_orphan',
    );
    const isDay = "date_trunc('day', s.end_at AT TIME ZONE 'UTC') = s.end_at AT TIME ZONE 'UTC'";
    await transfer(context, {
      table: 'referral_contests',
      columns: {
        // An end at midnight means the end of that day.
        closes_at: `CASE WHEN ${isDay} THEN s.end_at + interval '23:59:59.999' ELSE ${cutTime('s.end_at')} END`,
        daily_summary_time: 's.daily_summary_time',
      },
    });
    await transfer(context, {
      table: 'referral_contest_events',
      rest: `JOIN ${sourceTable('users')} u ON u.id = s.referral_id JOIN ${CONTESTS} c ON c.id = s.contest_id`,
      columns: {
        event_type: wordOf('s.event_type'),
        occurred_at: cutTime('coalesce(s.occurred_at, c.start_at)'),
        is_listed: `u.status <> 'deleted'`,
      },
    });
    await transfer(context, { table: 'referral_contest_virtual_participants' });
  },
};

async function repairContests(context: ImportContext): Promise<void> {
  const table = 'referral_contests';
  const isOutside = `end_at > start_at IS NOT TRUE OR ${SUMMARY_TIME} IS NULL OR timezone NOT IN (SELECT name FROM pg_timezone_names)`;
  const now = sqlTime(context.firstSnapshotAt);
  const start = `coalesce(s.start_at, s.created_at, ${now})`;
  await clearMissingLinks(context, table, { created_by: 'users' });
  await parkColumns(
    context,
    table,
    ['last_daily_summary_date'],
    'last_daily_summary_date IS NOT NULL AND last_daily_summary_at IS NULL',
  );
  await applyRule(context, {
    ...{ code: 'contest_bounds', table },
    find: `SELECT id FROM ${CONTESTS} WHERE ${isOutside}`,
    set: `start_at = ${start}, end_at = CASE WHEN s.end_at > s.start_at THEN s.end_at ELSE ${start} + interval '1 second' END,
      is_active = coalesce(s.is_active, true) AND s.end_at > s.start_at,
      daily_summary_time = CASE WHEN ${SUMMARY_TIME.replace('daily', 's.daily')} IS NULL THEN '12:00:00' ELSE s.daily_summary_time END,
      timezone = CASE WHEN s.timezone IN (SELECT name FROM pg_timezone_names) THEN s.timezone ELSE 'UTC' END`,
    parks: `jsonb_build_object('id', s.id, 'start_at', s.start_at, 'end_at', s.end_at, 'is_active', s.is_active, 'daily_summary_time', s.daily_summary_time, 'timezone', s.timezone)`,
  });
  await context.sql(`UPDATE ${CONTESTS} SET daily_summary_time = ${SUMMARY_TIME}, timezone = coalesce(timezone, 'UTC')`);
}

async function repairEvents(context: ImportContext): Promise<void> {
  const table = 'referral_contest_events';
  await parkOrphans(context, table, 'contest_id', 'referral_contests', 'contest_event_orphan');
  for (const column of ['referrer_id', 'referral_id']) await parkOrphans(context, table, column, 'users', 'contest_event_orphan');
  await applyRule(context, {
    ...{ code: 'contest_event_self', table, isParked: true },
    find: `SELECT id FROM ${EVENTS} WHERE referrer_id = referral_id`,
  });
  await applyRule(context, {
    ...{ code: 'contest_event_unknown', table, isParked: true },
    find: `SELECT id FROM ${EVENTS} WHERE ${wordOf('event_type')} IN ${EVENT_TYPES} IS NOT TRUE`,
  });
  await parkRepeated(context, { table, columns: 'contest_id, referral_id' });
  await applyRule(context, {
    ...{
      code: 'contest_bounds',
      table,
      set: 'amount_kopeks = 0',
      detail: `jsonb_build_object('amount_kopeks', f.amount_kopeks)`,
    },
    find: `SELECT id, amount_kopeks FROM ${EVENTS} WHERE amount_kopeks < 0`,
  });
}

/** Daily games: templates, rounds and attempts (spec 07 section 4.4). Templates of ours that the source lacks are added again after the import. */
export const dailyContestStep: ImportStep = {
  name: 'daily contests',
  async prepare(context) {
    await repairTemplates(context);
    await repairRounds(context);
    const attempts = 'contest_attempts';
    await parkOrphans(context, attempts, 'round_id', 'contest_rounds', 'contest_attempt_orphan');
    await parkOrphans(context, attempts, 'user_id', 'users', 'contest_attempt_orphan');
    await parkRepeated(context, { table: attempts, columns: 'round_id, user_id' });
    await transfer(context, { table: 'contest_templates', columns: { prize_type: wordOf('s.prize_type') } });
    // The schedule starts rounds on the minute, a person hardly ever does: a slot that had its round must not open again.
    await transfer(context, {
      table: 'contest_rounds',
      rest: `LEFT JOIN (SELECT min(id) AS id FROM ${ROUNDS} WHERE starts_at = date_trunc('minute', starts_at) GROUP BY template_id, starts_at) slot ON slot.id = s.id`,
      columns: { status: wordOf('s.status'), is_scheduled: 'slot.id IS NOT NULL' },
      createdFrom: ['s.starts_at'],
    });
    await transfer(context, {
      table: attempts,
      rest: `JOIN ${ROUNDS} r ON r.id = s.round_id`,
      columns: { prize_transaction_id: 'NULL' },
      createdFrom: ['r.starts_at'],
    });
  },
};

async function repairTemplates(context: ImportContext): Promise<void> {
  const table = 'contest_templates';
  const numbers = Object.entries({ max_winners: 1, attempts_per_user: 1, times_per_day: 1, cooldown_hours: 24 });
  const isKnown = `${wordOf('prize_type')} IN ('days', 'balance', 'custom') IS TRUE`;
  await parkRepeated(context, { table, columns: 'slug' });
  await applyRule(context, {
    ...{ code: 'contest_bounds', table },
    find: `SELECT id, ${isKnown} AS known FROM ${TEMPLATES} WHERE NOT ${isKnown} OR ${numbers.map(([column]) => `coalesce(${column}, 0) < 1`).join(' OR ')}`,
    set: `prize_type = CASE WHEN f.known THEN s.prize_type ELSE 'custom' END, ${numbers
      .map(([column, standard]) => `${column} = greatest(coalesce(s.${column}, ${standard}), 1)`)
      .join(', ')}`,
    parks: `jsonb_build_object('id', s.id, 'prize_type', s.prize_type, ${numbers.map(([column]) => `'${column}', s.${column}`).join(', ')})`,
  });
}

async function repairRounds(context: ImportContext): Promise<void> {
  const table = 'contest_rounds';
  await parkOrphans(context, table, 'template_id', 'contest_templates', 'contest_round_orphan');
  await parkColumns(context, table, ['message_id', 'chat_id'], 'num_nonnulls(message_id, chat_id) > 0');
  const now = sqlTime(context.firstSnapshotAt);
  const start = `coalesce(s.starts_at, s.created_at, ${now})`;
  await applyRule(context, {
    ...{ code: 'contest_bounds', table },
    find: `SELECT id FROM ${ROUNDS} WHERE ends_at > starts_at IS NOT TRUE OR ${wordOf('status')} IN ('active', 'finished') IS NOT TRUE
      OR winners_count < 0 OR winners_count > coalesce(max_winners, 1) OR max_winners < 0 OR attempts_per_user < 1`,
    set: `starts_at = ${start}, ends_at = CASE WHEN s.ends_at > s.starts_at THEN s.ends_at ELSE ${start} + interval '1 second' END,
      status = CASE WHEN ${wordOf('s.status')} = 'active' AND s.ends_at > s.starts_at THEN 'active' ELSE 'finished' END,
      winners_count = greatest(s.winners_count, 0), max_winners = greatest(s.max_winners, s.winners_count, 0), attempts_per_user = greatest(s.attempts_per_user, 1)`,
    parks: `jsonb_build_object('id', s.id, 'starts_at', s.starts_at, 'ends_at', s.ends_at, 'status', s.status, 'winners_count', s.winners_count,
      'max_winners', s.max_winners, 'attempts_per_user', s.attempts_per_user)`,
  });
  await context.sql(`UPDATE ${ROUNDS} SET max_winners = 1 WHERE max_winners IS NULL`);
}
