import ipaddr from 'ipaddr.js';
import { isTimeZone } from '../../core/time-zone.ts';
import type { SettingFormat } from './catalogue/definition.ts';

interface FormatRule {
  /** Completes the sentence "Value must be ...". */
  readonly expected: string;
  readonly accepts: (text: string) => boolean;
}

const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/;
const WHOLE_NUMBER = /^\d{1,9}$/;

/** Items of a list, split like the code that reads the setting does; empty ones are skipped. */
function itemsOf(text: string, separator: RegExp | string = ','): string[] {
  return text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  if (/\s/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return schemes.includes(url.protocol) && url.host !== '';
}

function isTrafficPackage(item: string, partCounts: readonly number[]): boolean {
  const [gb = '', price = '', enabled = 'true', ...rest] = item.split(':').map((part) => part.trim());
  return (
    partCounts.includes(item.split(':').length) &&
    rest.length === 0 &&
    WHOLE_NUMBER.test(gb) &&
    WHOLE_NUMBER.test(price) &&
    /^(true|false)$/i.test(enabled)
  );
}

function isPeriodDiscount(item: string): boolean {
  const [days = '', percent = '', ...rest] = item.split(':').map((part) => part.trim());
  return rest.length === 0 && /^[1-9]\d{0,4}$/.test(days) && WHOLE_NUMBER.test(percent) && Number(percent) <= 100;
}

/** A relative path of folders and files whose names do not begin with a dot. */
function isPlainPath(text: string): boolean {
  return text.length <= 200 && text.split('/').every((name) => /^\w[\w.-]{0,89}$/.test(name));
}

const isLogName = (text: string): boolean => text.endsWith('.log');

const FORMATS: Readonly<Record<SettingFormat, FormatRule>> = {
  email: { expected: 'an e-mail address', accepts: (text) => /^[^\s@<>,]+@[^\s@<>,]+\.[^\s@<>,]+$/.test(text) },
  'hash-algorithm': { expected: 'sha256, sha384 or sha512', accepts: (text) => /^sha(256|384|512)$/.test(text) },
  'http-url': { expected: 'an http or https address', accepts: (text) => hasScheme(text, ['http:', 'https:']) },
  'int-list': {
    expected: 'whole numbers separated by commas',
    accepts: (text) => itemsOf(text).every((item) => WHOLE_NUMBER.test(item)),
  },
  // Opened by the user's device: links to apps are allowed, schemes that run code are not.
  link: { expected: 'a link', accepts: (text) => hasScheme(text, ['http:', 'https:', 'tg:', 'market:', 'itms-apps:']) },
  // Relative, without hidden and parent folders, and with an ending of its own: such a setting reaches no file that is not a log.
  'log-file': {
    expected: 'a relative path to a file that ends in .log',
    accepts: (text) => isPlainPath(text) && isLogName(text),
  },
  'log-folder': { expected: 'a relative path to a folder', accepts: isPlainPath },
  'log-name': {
    expected: 'the name of a file that ends in .log',
    accepts: (text) => isPlainPath(text) && isLogName(text) && !text.includes('/'),
  },
  'network-list': {
    expected: 'addresses or CIDR ranges separated by commas',
    accepts: (text) => itemsOf(text, /[\s,]+/).every((item) => ipaddr.isValid(item) || ipaddr.isValidCIDR(item)),
  },
  'panel-tag': { expected: '1 to 16 of the characters A-Z, 0-9 and _', accepts: (text) => /^[A-Z0-9_]{1,16}$/.test(text) },
  'period-discounts': {
    expected: 'days:percent pairs separated by commas',
    accepts: (text) => itemsOf(text).every(isPeriodDiscount),
  },
  'proxy-url': {
    expected: 'an http, https, socks5, socks5h or socks4 address of a proxy',
    accepts: (text) => hasScheme(text, ['http:', 'https:', 'socks5:', 'socks5h:', 'socks4:']),
  },
  'route-path': {
    expected: 'a path that starts with /',
    accepts: (text) => /^\/[A-Za-z0-9._~/-]*$/.test(text) && !text.includes('//') && !/(^|\/)\.{1,2}(\/|$)/.test(text),
  },
  time: { expected: 'a time HH:MM', accepts: (text) => TIME_OF_DAY.test(text) },
  'time-list': {
    expected: 'times HH:MM separated by commas',
    accepts: (text) => itemsOf(text, /[\s,;]+/).every((item) => TIME_OF_DAY.test(item)),
  },
  'time-zone': { expected: 'a known time zone', accepts: isTimeZone },
  'topup-packages': {
    expected: 'gb:price or gb:price:true entries separated by commas',
    accepts: (text) => itemsOf(text).every((item) => isTrafficPackage(item, [2, 3])),
  },
  'traffic-packages': {
    expected: 'gb:price:true entries separated by commas',
    accepts: (text) => itemsOf(text).every((item) => isTrafficPackage(item, [3])),
  },
  uuid: {
    expected: 'a UUID',
    accepts: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
  },
};

/** The expected format, to complete "Value must be ..."; null when the text is valid. */
export function formatProblem(format: SettingFormat, text: string): string | null {
  const rule = FORMATS[format];
  return rule.accepts(text) ? null : rule.expected;
}

/** The format in words, for hints. */
export function formatInWords(format: SettingFormat): string {
  return FORMATS[format].expected;
}

/**
 * The first brace of a template that is not one of the allowed placeholders, or null. A single brace counts as well: filling the
 * template would fail on it, and with it every message (spec 06 section 17, hazard 13).
 */
export function placeholderProblem(template: string, allowed: readonly string[]): string | null {
  const rest = template.replace(/\{([a-z_]+)\}/g, (whole, name: string) => (allowed.includes(name) ? '' : whole));
  return /\{[^{}]*\}?|\}/.exec(rest)?.[0] ?? null;
}
