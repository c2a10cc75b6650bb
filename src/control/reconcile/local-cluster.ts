/** The one cluster there is: this machine. */
export const LOCAL_CLUSTER = 'local';
