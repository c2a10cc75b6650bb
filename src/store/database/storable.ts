/** Text that every database stores: PostgreSQL takes no NUL, and in JSON no half of a surrogate pair. */
export const storable = (text: string) => text.replaceAll('\0', '\ufffd').replace(/\p{Surrogate}/gu, '\ufffd');
