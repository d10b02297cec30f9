/** Writes of administrators on e-mail templates. */
import { unique } from '../support/builders.ts';
import { ADMIN, type AdminWrite, type Fixture } from './admin-write-samples.ts';

const PATH = '/email-templates';

async function aTemplate(fixture: Fixture, language: string): Promise<string> {
  const path = `${PATH}/payment_received/${language}`;
  const reply = await fixture.boss.put(`${ADMIN}${path}`, { subject: `Subject ${unique()}`, body_html: '<p>Text</p>' });
  if (reply.status !== 200) throw new Error(reply.text);
  return path;
}

export const EMAIL_TEMPLATE_WRITES: Record<string, AdminWrite> = {
  [`PUT ${PATH}/{notification_type}/{language}`]: {
    kind: 'change',
    request: async (fixture) => ({
      path: await aTemplate(fixture, 'fa'),
      body: { subject: `Subject ${unique()}`, body_html: '<p>Other text</p>' },
    }),
  },
  [`DELETE ${PATH}/{notification_type}/{language}`]: {
    kind: 'deletion',
    request: async (fixture) => ({ path: await aTemplate(fixture, 'ua') }),
  },
};

export const EMAIL_TEMPLATES_WITHOUT_STATE: Record<string, string> = {
  [`POST ${PATH}/{notification_type}/preview`]: 'shows a text that is not stored',
  [`POST ${PATH}/{notification_type}/test`]: 'sends a mail with example values',
};
