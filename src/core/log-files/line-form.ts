/**
 * The form of a log record in files (spec 06 section 8): `2025-01-31 15:00:00 [INFO] [service] message key=value …`, a stack on the lines
 * after it. Made from the JSON line of standard output, in which every secret is masked already.
 */

export type FileLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

const LEVELS: Readonly<Record<string, FileLevel>> = {
  trace: 'DEBUG',
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
  fatal: 'CRITICAL',
};

export interface FileRecord {
  level: FileLevel;
  /** With a line break at the end. */
  text: string;
  /** Whether the record is about a payment. */
  isPayment: boolean;
}

/** Names of records and of jobs that are about payments. */
const PAYMENT_FIELDS = ['paymentId', 'refundId', 'reversalId', 'chargeId', 'receiptId', 'caseId'] as const;

/** @param line one JSON object, as the logger writes it @param timeOf writes the time of a record for people */
export function fileRecord(line: string, timeOf: (time: Date) => string): FileRecord {
  const record = parsed(line);
  if (record === null)
    return { level: 'INFO', text: `${timeOf(new Date())} [INFO] [service] ${oneLine(line.trim())}\n`, isPayment: false };
  const { level: label, time, msg = '', err, service: _service, logger = 'service', ...fields } = record;
  const level = LEVELS[String(label)] ?? 'INFO';
  const words = Object.entries(fields).map(([key, value]) => `${key}=${valueText(value)}`);
  const { summary, stack } = errorTexts(err);
  if (summary !== null) words.push(`error=${valueText(summary)}`);
  const head = `${timeOf(new Date(String(time)))} [${level}] [${oneLine(String(logger))}] ${oneLine(String(msg))}`;
  return { level, text: `${[head, ...words].join(' ')}\n${stack}`, isPayment: isPayment(fields) };
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function isPayment(fields: Readonly<Record<string, unknown>>): boolean {
  return PAYMENT_FIELDS.some((name) => fields[name] !== undefined) || String(fields.queue ?? '').startsWith('payments.');
}

/** A record is one line, so that no text of a client can look like a record of its own. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in a line
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) => {
    if (character === '\n') return '\\n';
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=\\]+$/.test(value)) return oneLine(value);
  return oneLine(JSON.stringify(value) ?? 'undefined');
}

/** Lines of a stack are indented: a message of several lines within it cannot look like a record either. */
function errorTexts(error: unknown): { summary: string | null; stack: string } {
  if (error === undefined) return { summary: null, stack: '' };
  if (typeof error !== 'object' || error === null) return { summary: String(error), stack: '' };
  const { type, message, stack } = error as { type?: unknown; message?: unknown; stack?: unknown };
  const summary = message === undefined ? JSON.stringify(error) : `${type === undefined ? '' : `${type}: `}${message}`;
  if (typeof stack !== 'string') return { summary, stack: '' };
  const lines = stack.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => `    ${oneLine(line)}\n`);
  return { summary, stack: lines.join('') };
}

/** Writes times as `YYYY-MM-DD HH:MM:SS` in a zone. Most records are of the second of the one before. */
export function zoneTime(timeZone: string): (time: Date) => string {
  const parts = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  } as const;
  // Swedish has this form.
  const format = new Intl.DateTimeFormat('sv-SE', { ...parts, timeZone, hourCycle: 'h23' });
  let second = Number.NaN;
  let text = '';
  return (time) => {
    const current = Math.floor(time.getTime() / 1000);
    if (current !== second && !Number.isNaN(current)) {
      second = current;
      text = format.format(time);
    }
    return text;
  };
}
