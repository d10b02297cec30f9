import { describe, expect, it } from 'vitest';
import { MAIL_TYPES, renderMail } from '../../../src/domain/messaging/render-mail.ts';
import { type TextKey, text } from '../../../src/domain/messaging/texts.ts';

const FRAME = { serviceName: 'VPN & Co', cabinetUrl: 'https://cabinet.example' };
const PARAMS = {
  username: '<Ann>\r\nBcc: x',
  verification_url: 'https://cabinet.example/verify-email?token=a&b=1',
  expire_hours: 24,
};

describe('mail templates', () => {
  it('escapes values in HTML, keeps them plain in text (spec 05 section 16, invariant 10)', () => {
    const mail = renderMail('en', 'email_verification', PARAMS, FRAME);
    expect(mail.subject).toBe('Confirm your e-mail address');
    expect(mail.html).toContain('&lt;Ann&gt;');
    expect(mail.html).toContain('href="https://cabinet.example/verify-email?token=a&amp;b=1"');
    expect(mail.html).toContain('VPN &amp; Co');
    expect(mail.text).toContain(PARAMS.verification_url);
    expect(mail.text).toContain('VPN & Co');
  });

  it('links to the cabinet only where the mail has no other link', () => {
    const params = { formatted_amount: '100 ₽', formatted_balance: '200 ₽' };
    expect(renderMail('ru', 'balance_topup', params, FRAME).html).toContain('href="https://cabinet.example"');
    expect(renderMail('ru', 'balance_topup', params, { ...FRAME, cabinetUrl: null }).html).not.toContain('href=');
    expect(
      renderMail('ru', 'email_change_code', { username: 'a', code: '123456', expire_minutes: 15 }, FRAME).html,
    ).not.toContain('href=');
  });

  it('uses an override, with the page that its body needs', () => {
    const render = (bodyHtml: string) =>
      renderMail('en', 'email_verification', PARAMS, FRAME, { subject: 'For {username}', bodyHtml });
    const plain = render('<p>Hi {username} <a href="{verification_url}">go</a></p>');
    expect(plain.subject).toBe('For <Ann> Bcc: x');
    expect(plain.html).toContain('Hi &lt;Ann&gt;');
    expect(plain.html).toContain('VPN &amp; Co');
    expect(plain.text).toBe('Hi <Ann>\r\nBcc: x go (https://cabinet.example/verify-email?token=a&b=1)');
    expect(render('<!DOCTYPE html><html><body>{expire_hours} {verification_url}</body></html>').html).toBe(
      '<!DOCTYPE html><html><body>24 https://cabinet.example/verify-email?token=a&amp;b=1</body></html>',
    );
    expect(render('<div style="background:red">x</div>').html).not.toContain('VPN &amp; Co');
  });

  it('does not fill placeholders in a value', () => {
    const mail = renderMail('en', 'email_verification', { ...PARAMS, username: '{verification_url}{service_name}' }, FRAME);
    expect(mail.text).toContain('Hello {verification_url}{service_name}!');
  });

  it.each(MAIL_TYPES.flatMap((type) => ['ru', 'en'].map((language) => [type, language] as const)))(
    '%s in %s has a subject and both bodies with no placeholder left',
    (type, language) => {
      const names = (['subject', 'html', 'text'] as const).flatMap((part) =>
        [...text(language, `mail.${type}_${part}` as TextKey).matchAll(/\{(\w+)\}/g)].map((match) => [
          match[1] as string,
          'value',
        ]),
      );
      const mail = renderMail(language, type, Object.fromEntries(names), FRAME);
      expect(mail.subject).not.toBe('');
      expect(`${mail.subject}${mail.html}${mail.text}`).not.toMatch(/\{\w+\}/);
    },
  );
});
