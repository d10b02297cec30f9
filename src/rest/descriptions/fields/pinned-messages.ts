/** Texts of fields of pinned messages (spec 05 section 4). */
const CONTENT =
  "Text in the messenger's HTML, at most 4096 characters without tags, under a file 1024. Tags may be entity-escaped; `br` is a line break.";
const MEDIA = 'File of the message, whose caption the text is. Null for none.';
const NEW_CONTENT = `${CONTENT} Trimmed; blank for a file without a text.`;
const CHANGED_CONTENT = `${CONTENT} Null leaves it unchanged.`;
const CHANGED_MEDIA = 'Another file in the place of the present one. Null leaves it unchanged.';
const BEFORE =
  'For a bot that shows a menu when a chat starts: whether its menu comes after this message, or before it. Such a bot reads it with `GET /pinned-messages/active`. The service shows no menu itself and delivers the message as soon as it receives the start, whatever this is.';
const EVERY_START = 'Whether it is delivered at every start of the chat, or only to those who got another message last.';
const SENT = 'Users who have got it when the answer was made; 0 without a broadcast.';
const FAILED = 'Users who have not got it, or who have blocked the bot.';

const COMPONENTS = ['', 'CabinetPinnedMessages'];

const forBoth = (texts: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    COMPONENTS.flatMap((prefix) => Object.entries(texts).map(([key, text]) => [`${prefix}PinnedMessage${key}`, text])),
  );

export const PINNED_MESSAGE_FIELDS: Readonly<Record<string, string>> = {
  send_before_menu: BEFORE,
  send_on_every_start: EVERY_START,
  unpinned_count: 'Chats in which it is unpinned when the answer was made.',
  was_active: 'Whether a message was active; without one nothing was unpinned.',
  ...forBoth({
    'Response.content': "Text in the messenger's HTML; empty where the file is sent alone.",
    'Response.media_type': '`photo` or `video`; null without a file.',
    'Response.media_file_id': 'Id of the file; null without one.',
    'Response.is_active': 'Whether it is the message that is delivered when a chat starts.',
    'Response.created_by': 'Id of the administrator who added it; null for an API token.',
    'Media.type': '`photo` or `video`.',
    'Media.file_id': 'Id of the file, of an upload or of the messenger; at most 255 characters.',
    'BroadcastResponse.message': 'The message.',
    'BroadcastResponse.sent_count': SENT,
    'BroadcastResponse.failed_count': FAILED,
    'UnpinResponse.failed_count': 'Chats in which it could not be unpinned.',
  }),
  'PinnedMessageCreateRequest.content': NEW_CONTENT,
  'PinnedMessageCreateRequest.media': MEDIA,
  'CabinetPinnedMessagesPinnedMessageCreateRequest.content': NEW_CONTENT,
  'CabinetPinnedMessagesPinnedMessageCreateRequest.media': MEDIA,
  'PinnedMessageUpdateRequest.content': CHANGED_CONTENT,
  'PinnedMessageUpdateRequest.media': CHANGED_MEDIA,
  'CabinetPinnedMessagesPinnedMessageUpdateRequest.content': CHANGED_CONTENT,
  'CabinetPinnedMessagesPinnedMessageUpdateRequest.media': CHANGED_MEDIA,
  'CabinetPinnedMessagesPinnedMessageCreateRequest.broadcast': 'Whether it is sent to everyone at once.',
};
