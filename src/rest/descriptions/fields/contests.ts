const WINNERS = 'How many users can win a round.';
const ATTEMPTS = 'Stored without effect: a user has one attempt in a round.';
const SLOTS = 'How many of `schedule_times` start a round each day: the first ones.';
const SCHEDULE = 'Times `HH:MM` separated by commas, in the time zone of the setting `TIMEZONE`; null or empty for no schedule.';
const HOURS = 'Hours that a round lasts.';
const TEMPLATE_PAYLOAD = 'What rounds are drawn from; its fields depend on the game.';
const ROUND_PAYLOAD = 'The game of the round, its solution (`secret_idx` or `answer`) included; the fields depend on the game.';
const PRIZE_TYPE = '`days` of subscription, `balance` or `custom`.';
const PRIZE_VALUE = 'Days, kopeks or a text, by `prize_type`.';
const SOLE = 'Absent or null leaves it unchanged.';

/** Texts of fields of daily games and of contests of referrers (spec 04 sections 10 and 11). */
export const CONTEST_FIELDS: Readonly<Record<string, string>> = {
  // Daily games
  max_winners: WINNERS,
  attempts_per_user: ATTEMPTS,
  times_per_day: SLOTS,
  schedule_times: SCHEDULE,
  cooldown_hours: HOURS,
  'ContestTemplateListResponse.items': 'The games by id.',
  'ContestTemplateResponse.slug':
    'The game: `quest_buttons`, `lock_hack`, `server_lottery`, `blitz_reaction`, `letter_cipher`, `emoji_guess` or `anagram`.',
  'ContestTemplateResponse.prize_type': PRIZE_TYPE,
  'ContestTemplateResponse.prize_value': PRIZE_VALUE,
  'ContestTemplateResponse.payload': TEMPLATE_PAYLOAD,
  'ContestTemplateResponse.is_enabled': 'Whether the game is offered and its schedule starts rounds.',
  'ContestTemplateUpdateRequest.name': `Display name, 1 to 255 characters. ${SOLE}`,
  'ContestTemplateUpdateRequest.description': `Free text for players. ${SOLE}`,
  'ContestTemplateUpdateRequest.prize_type': `${PRIZE_TYPE} ${SOLE}`,
  'ContestTemplateUpdateRequest.prize_value': `${PRIZE_VALUE} Days and kopeks are whole numbers above 0. ${SOLE}`,
  'ContestTemplateUpdateRequest.max_winners': `${WINNERS} ${SOLE}`,
  'ContestTemplateUpdateRequest.attempts_per_user': `${ATTEMPTS} ${SOLE}`,
  'ContestTemplateUpdateRequest.times_per_day': `${SLOTS} ${SOLE}`,
  'ContestTemplateUpdateRequest.schedule_times': `Times \`HH:MM\` separated by commas, in the time zone of the setting \`TIMEZONE\`; empty for no schedule. ${SOLE}`,
  'ContestTemplateUpdateRequest.cooldown_hours': `Hours that a round lasts, up to 87600. ${SOLE}`,
  'ContestTemplateUpdateRequest.payload': `${TEMPLATE_PAYLOAD} ${SOLE}`,
  'StartRoundRequest.starts_at':
    'When the round begins; without a zone in the time zone of the setting `TIMEZONE`. Absent or null: now.',
  'StartRoundRequest.ends_at':
    'When the round ends, likewise; takes precedence over `cooldown_hours`. Absent or null: by the hours.',
  'StartRoundRequest.cooldown_hours': 'Hours that the round lasts, up to 87600. Absent or null: those of the game.',
  'StartRoundRequest.payload': 'The game of this round with its solution. Absent, null or empty: it is drawn.',
  'StartRoundRequest.force': 'Whether a round that is played now is finished first.',
  'ContestRoundListResponse.items': 'The rounds of the page.',
  'ContestRoundResponse.template_id': 'Id of the game.',
  template_slug: 'Name of the game for programs.',
  'ContestRoundResponse.template_name': 'Display name of the game.',
  'ContestRoundResponse.starts_at': 'When the round begins (UTC).',
  'ContestRoundResponse.ends_at': 'When the round ends (UTC).',
  'ContestRoundResponse.status':
    '`active` or `finished`; a round that is over or has all its winners is finished within a minute.',
  'ContestRoundResponse.payload': ROUND_PAYLOAD,
  winners_count: 'How many users have won.',
  'ContestAttemptListResponse.items': 'The attempts of the page.',
  round_id: 'Id of the round.',
  'ContestAttemptResponse.user': 'Who played.',
  'ContestAttemptResponse.answer': 'The answer as it was sent; null when none is stored.',
  is_winner: 'Whether the attempt has won.',
  'ContestAttemptUser.id': 'Internal id of the user.',
  'ContestAttemptUser.full_name':
    'First and last name, else username, else `ID` and the messenger id, else the name of the e-mail address.',

  // Playing
  'ContestsCountResponse.count': 'Number of running contests that the user has not played; 0 for users who may not play.',
  'ContestInfo.id': 'Id of the round.',
  'ContestInfo.slug': 'Name of the game for programs.',
  'ContestInfo.prize_type': PRIZE_TYPE,
  'ContestInfo.prize_value': PRIZE_VALUE,
  'ContestInfo.is_available': 'Always true: only running rounds are listed.',
  already_played: 'Whether the user has used the attempt.',
  game_type: 'Name of the game for programs.',
  game_data: 'What the player is shown; its fields depend on the game. The solution is not in it.',
  instructions: 'Sentence that says what to do.',
  'ContestAnswerRequest.round_id': 'Id of the round. That of the path decides.',
  'ContestAnswerRequest.answer':
    'The place from 0, the flag, the word, or `blitz`, by the game. At most 200 characters; surrounding blanks do not count.',
  'ContestResult.message': 'Sentence for the player.',
  'ContestResult.prize_type': `${PRIZE_TYPE} Null unless won.`,
  'ContestResult.prize_value': `${PRIZE_VALUE} Null unless won.`,

  // Contests of referrers
  'ReferralContestListResponse.items': 'The contests of the page.',
  prize_text: 'What the winners get, as a text; null when nothing is said. Prizes are not paid automatically.',
  contest_type:
    '`referral_paid` scores payments of referrals, `referral_registered` their registrations; other types score nothing.',
  start_at: 'When the contest begins. In a request without a zone: in `timezone`.',
  end_at: 'When the contest ends. In a request without a zone: in `timezone`. 00:00:00 UTC means the end of that day.',
  daily_summary_time: 'Time of day of the summary, in `timezone`.',
  daily_summary_times:
    'Times `HH:MM` of several summaries, separated by commas; the first replaces `daily_summary_time`. Null for one.',
  timezone: 'Name of a time zone, for example `Europe/Moscow`.',
  last_daily_summary_date: 'Day of the last summary in `timezone`; null when none was sent.',
  last_daily_summary_at: 'When the last summary was sent (UTC); null when none was.',
  final_summary_sent: 'Whether the final summary was sent.',
  total_events: 'Number of all events of the contest.',
  leaderboard: 'Referrers by their referrals, then by what those paid.',
  'ReferralContestLeaderboardItem.user_id': 'Internal id of the referrer.',
  'ReferralContestLeaderboardItem.referrals_count': 'Events of the referrer within the period.',
  'ReferralContestLeaderboardItem.total_amount_kopeks': 'What these referrals paid for subscriptions within the period, kopeks.',
  'ReferralContestLeaderboardItem.total_amount_rubles': 'The same in rubles: kopeks / 100.',
  'ReferralContestEventListResponse.items': 'The events of the page.',
  contest_id: 'Id of the contest.',
  'ReferralContestEventResponse.referrer': 'Who invited.',
  'ReferralContestEventResponse.referral': 'Who was invited.',
  'ReferralContestEventResponse.event_type': '`subscription_purchase` or `referral_registration`.',
  'ReferralContestEventResponse.amount_kopeks':
    'What the referral paid for subscriptions within the period, kopeks; 0 for a registration.',
  'ReferralContestEventResponse.amount_rubles': 'The same in rubles: kopeks / 100.',
  'ReferralContestEventResponse.occurred_at': 'When the first payment was made, or the referral registered (UTC).',
  'ReferralContestEventUser.id': 'Internal id of the user.',
  total_participants: 'Number of referrers with an event.',
  total_invited: 'Number of events.',
  total_paid_amount: 'What referrals paid for subscriptions, kopeks.',
  total_unpaid: 'Number of referrals who paid nothing.',
  participants: 'All referrers in the order of the leaderboard.',
  referrer_id: 'Internal id of the referrer.',
  'ReferralContestParticipant.total_referrals': 'Events of the referrer.',
  'ReferralContestParticipant.paid_referrals': 'Referrals who paid something.',
  unpaid_referrals: 'Referrals who paid nothing.',
};
