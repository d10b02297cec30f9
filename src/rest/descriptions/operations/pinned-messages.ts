/** Pinned messages, in the Web API and in the administration. */
const TO_EVERYONE =
  'goes to every active user of the messenger, without a sound, and is pinned in the place of the pinned message before it; other pins of a chat stay. It is sent in the background at the pace of `MESSENGER_SENDS_PER_SECOND`, and the answer has the counts reached after `PINNED_ANSWER_WAIT_MS`. A broadcast or unpinning that has not ended is ended by the next one. Administrators receive `pinned_message.progress` on `/cabinet/ws`.';
const COOLDOWN =
  'Broadcasts and unpinning are possible once a minute together, in both areas; a call that is refused does not count.';
const AUDITED = 'The call is recorded in the audit log.';

const operations = (base: string, audited: string): Record<string, string> => ({
  [`GET ${base}`]: 'Lists pinned messages, newest first.',
  [`POST ${base}`]: `Adds a message, which becomes the active one in the place of the one before. What the messenger would refuse is refused here. With \`broadcast\` it ${TO_EVERYONE} ${COOLDOWN}${audited}`,
  [`GET ${base}/active`]: 'Returns the active message, or null.',
  [`GET ${base}/{message_id}`]: 'Returns a pinned message.',
  [`PATCH ${base}/{message_id}`]: `Changes the given fields of a message; null leaves a field unchanged, so that a file can be replaced and not removed. Nothing is sent again.${audited}`,
  [`PATCH ${base}/{message_id}/settings`]: `Changes when a message is delivered at the start of a chat.${audited}`,
  [`POST ${base}/{message_id}/activate`]: `Makes a message the active one in the place of the one before; repeating it changes nothing. With \`broadcast\` it ${TO_EVERYONE} ${COOLDOWN}${audited}`,
  [`POST ${base}/{message_id}/broadcast`]: `The message, active or not, ${TO_EVERYONE} ${COOLDOWN}${audited}`,
  [`POST ${base}/active/deactivate`]: `Deactivates the active message and returns it, or null when there is none. The pins in the chats stay.${audited}`,
  [`POST ${base}/active/unpin`]: `Deactivates the active message and unpins, in each chat, the message that was sent there last, in the background; other pins stay. The answer has the counts reached after \`PINNED_ANSWER_WAIT_MS\`. Without an active message nothing is done. ${COOLDOWN}${audited}`,
});

export const PINNED_MESSAGE_OPERATIONS: Readonly<Record<string, string>> = {
  ...operations('/pinned-messages', ` ${AUDITED}`),
  'DELETE /pinned-messages/{message_id}': `Deletes a message, also the active one, and ends its broadcast. The pins in the chats stay. ${AUDITED}`,
  ...operations('/cabinet/admin/pinned-messages', ''),
  'DELETE /cabinet/admin/pinned-messages/{message_id}':
    'Deletes a message that is not active and ends its broadcast. The pins in the chats stay.',
};
