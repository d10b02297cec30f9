import { expect, test } from 'vitest';
import { mailReason, missingFields, noticeHtml } from '../../../src/domain/ban-system/ban-notices.ts';

test('06 13: a placeholder that is not of the type stays as it is written, in the template and in values', () => {
  const values = { ipCount: 5, limit: 3, banMinutes: 0, nodeName: '{limit} {ip_count}' };
  const html = noticeHtml('{ip_count} {network_info} {warning_message} {unknown} {node_info}', 'punishment', values, 'en');
  expect(html).toBe('5 {network_info} {warning_message} {unknown} Node: {limit} {ip_count}');
  expect(noticeHtml('{ip_count} {node_info}', 'enabled', values, 'en')).toBe('{ip_count} {node_info}');
});

test('06 13: an empty line for what is not given, without blanks at the end', () => {
  expect(noticeHtml('a\n{node_info}', 'punishment', { nodeName: ' ' }, 'en')).toBe('a');
  expect(noticeHtml('a', 'network_wifi', { nodeName: null }, 'en')).toBe('a');
});

test('06 13: zero is a value, null and a blank text are none', () => {
  expect(missingFields('punishment', { ipCount: 0, limit: 0, banMinutes: 0 })).toBeNull();
  expect(missingFields('warning', { warningMessage: '  ' })).toBe('warning_message');
  expect(missingFields('enabled', {})).toBeNull();
});

test('06 13: the reason of a mail is one line of plain text', () => {
  const reason = mailReason('network_mobile', { banMinutes: 5, networkType: 'LTE\n<x>', nodeName: 'n' }, 'ru');
  expect(reason).toBe('подключение через эту сеть не разрешено; доступ вернётся через 5 мин.; Сеть: LTE <x>; Узел: n');
});
