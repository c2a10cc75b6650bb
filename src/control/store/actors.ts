/** Who changes what nobody asked for. */
export const CONTROL_PLANE = 'control-plane';
