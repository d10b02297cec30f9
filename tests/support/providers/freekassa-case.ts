import { notification, orderApiCase } from './order-api-case.ts';

const PATH = '/freekassa-webhook';

/** Freekassa (03a section 10). */
export const freekassaCase = orderApiCase({
  method: 'freekassa',
  path: PATH,
  F11: { status: 403, body: 'Error', make: async (stage) => ({ ...notification(stage, PATH), ip: '8.8.8.8' }) },
  vectors: { shopId: '7012', word2: 'word-two' },
});
