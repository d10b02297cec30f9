import { escapeHtml, fill, shorten, type TextParams, text } from '../messaging/texts.ts';

/** What a message about a ban is made of (spec 06 section 13, POST /ban-notifications/send). */

export const BAN_NOTICE_TYPES = ['punishment', 'enabled', 'warning', 'network_wifi', 'network_mobile'] as const;
export type BanNoticeType = (typeof BAN_NOTICE_TYPES)[number];

export interface BanNoticeValues {
  ipCount?: number | null | undefined;
  limit?: number | null | undefined;
  banMinutes?: number | null | undefined;
  warningMessage?: string | null | undefined;
  networkType?: string | null | undefined;
  nodeName?: string | null | undefined;
}

/** Fields without which a message of the type has no meaning, by their names in requests. */
const REQUIRED: Readonly<Record<BanNoticeType, readonly (readonly [wire: string, field: keyof BanNoticeValues])[]>> = {
  punishment: [
    ['ip_count', 'ipCount'],
    ['limit', 'limit'],
    ['ban_minutes', 'banMinutes'],
  ],
  enabled: [],
  warning: [['warning_message', 'warningMessage']],
  network_wifi: [['ban_minutes', 'banMinutes']],
  network_mobile: [['ban_minutes', 'banMinutes']],
};

/** Setting with the template of each type. */
export const TEMPLATES = {
  punishment: 'BAN_MSG_PUNISHMENT',
  enabled: 'BAN_MSG_ENABLED',
  warning: 'BAN_MSG_WARNING',
  network_wifi: 'BAN_MSG_WIFI',
  network_mobile: 'BAN_MSG_MOBILE',
} as const satisfies Record<BanNoticeType, string>;

/** A message has at most 4096 characters, of which the template needs some. */
const MAX_WARNING = 3_500;
const MAX_NAME = 200;

const isGiven = (value: string | number | null | undefined) => (typeof value === 'string' ? value.trim() !== '' : value != null);

/** The names of all fields that the type requires; null when each is given. Zero is a value, null and a blank text are none. */
export function missingFields(type: BanNoticeType, values: BanNoticeValues): string | null {
  const isComplete = REQUIRED[type].every(([, field]) => isGiven(values[field]));
  return isComplete ? null : REQUIRED[type].map(([wire]) => wire).join(', ');
}

/**
 * The message in the messenger's HTML, every value escaped. Where the template has no place for the node or the network, they follow it;
 * a placeholder that is not of this type stays as it is written.
 */
export function noticeHtml(template: string, type: BanNoticeType, values: BanNoticeValues, language: string): string {
  const infos = infoLines(type, values, language);
  const params = { ...numbersOf(type, values), ...infos };
  const missing = Object.entries(infos).filter(([name, line]) => line !== '' && !template.includes(`{${name}}`));
  // Written in one go, so that braces in a value are not filled again.
  return [fill(template, params, String).trim(), ...missing.map(([, line]) => line)].join('\n');
}

function numbersOf(type: BanNoticeType, { ipCount, limit, banMinutes, warningMessage }: BanNoticeValues): TextParams {
  switch (type) {
    case 'punishment':
      return { ip_count: ipCount ?? 0, limit: limit ?? 0, ban_minutes: banMinutes ?? 0 };
    case 'warning':
      return { warning_message: escapeHtml(warningOf(warningMessage)) };
    case 'enabled':
      return {};
    default:
      return { ban_minutes: banMinutes ?? 0 };
  }
}

/** One line each, empty when not given; the network is shown where it is the reason. */
function infoLines(type: BanNoticeType, { networkType, nodeName }: BanNoticeValues, language: string): Record<string, string> {
  const line = (key: 'operations.ban_node' | 'operations.ban_network', name: string | null | undefined) =>
    isGiven(name) ? `${escapeHtml(text(language, key))}: ${escapeHtml(nameOf(name!))}` : '';
  const node = { node_info: line('operations.ban_node', nodeName) };
  if (type === 'punishment') return node;
  if (type === 'enabled' || type === 'warning') return {};
  return { network_info: line('operations.ban_network', networkType), ...node };
}

/** The reason for a mail: plain text in one line. */
export function mailReason(type: BanNoticeType, values: BanNoticeValues, language: string): string {
  const { ipCount, limit, banMinutes, networkType, nodeName } = values;
  const labelled = (key: 'operations.ban_node' | 'operations.ban_network', name: string | null | undefined) =>
    isGiven(name) ? [`${text(language, key)}: ${nameOf(name!)}`] : [];
  const minutes = text(language, 'operations.ban_minutes', { minutes: banMinutes ?? 0 });
  const parts =
    type === 'punishment'
      ? [text(language, 'operations.ban_addresses', { ip_count: ipCount ?? 0, limit: limit ?? 0 }), minutes]
      : [text(language, 'operations.ban_wrong_network'), minutes, ...labelled('operations.ban_network', networkType)];
  return [...parts, ...labelled('operations.ban_node', nodeName)].join('; ');
}

/** The text of a warning. */
export function warningOf(message: string | null | undefined): string {
  return shorten((message ?? '').trim(), MAX_WARNING);
}

/** Names are in one line. */
function nameOf(name: string): string {
  return shorten(name.trim().replace(/\s+/g, ' '), MAX_NAME);
}
