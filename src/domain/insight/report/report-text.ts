import { formatPrice } from '../../../core/money.ts';
import { escapeHtml, htmlText, shorten } from '../../messaging/texts.ts';
import type { Report } from './read-report.ts';
import type { ReportPeriod } from './report-period.ts';

/** Of a name in the list of referrers, so that the message is never longer than the messenger takes. */
const NAME_LENGTH = 60;

/** A report as a message, in the messenger's HTML. */
export function reportHtml(language: string, period: ReportPeriod, report: Report): string {
  const { payments, deposits, topReferrers, ...counts } = report;
  const { firstDay, lastDay } = period;
  const values = {
    ...counts,
    period: firstDay === lastDay ? dateText(lastDay) : `${dateText(firstDay)} – ${dateText(lastDay)}`,
    payments: payments.count,
    paymentsAmount: formatPrice(payments.kopeks, false),
    deposits: deposits.count,
    depositsAmount: formatPrice(deposits.kopeks, false),
  };
  const parts = [htmlText(language, `reports.${period.kind}`, values), htmlText(language, 'reports.values', values)];
  if (topReferrers.length > 0) {
    const lines = topReferrers.map(
      ({ name, invited }, index) => `${index + 1}. ${escapeHtml(shorten(name, NAME_LENGTH))}: ${invited}`,
    );
    parts.push([htmlText(language, 'reports.top_referrers'), ...lines].join('\n'));
  }
  return parts.join('\n\n');
}

/** The same as plain text, for a terminal. */
export function reportText(language: string, period: ReportPeriod, report: Report): string {
  return reportHtml(language, period, report)
    .replace(/<[^>]*>/g, '')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => CHARACTERS[name]!);
}

const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

/** `DD.MM.YYYY` of `YYYY-MM-DD`. */
function dateText(day: string): string {
  return day.split('-').reverse().join('.');
}
