// Mantine in our colours: its variables point to tokens.css.
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

const accent: MantineColorsTuple = [
  "#e4effc",
  "#c9dff8",
  "#a3c9f2",
  "#7db7ff",
  "#5a9ff0",
  "#3f8ef0",
  "#1b5fb8",
  "#17539f",
  "#134686",
  "#0f396d",
];

/** Mantine's greys, so that its inputs and borders have our contrast on both backgrounds. */
const gray: MantineColorsTuple = [
  "#f6f7f9",
  "#edf0f4",
  "#d3d9e1",
  "#d3d9e1",
  "#7c8796",
  "#626d7c",
  "#515b6a",
  "#515b6a",
  "#303a46",
  "#1a1f27",
];
const dark: MantineColorsTuple = [
  "#e7ebf1",
  "#c8d0da",
  "#a5b0be",
  "#8b97a7",
  "#6f7c8d",
  "#303a46",
  "#1e252e",
  "#161b22",
  "#0e1217",
  "#0b0f14",
];

export const theme = createTheme({
  primaryColor: "accent",
  primaryShade: 6,
  colors: { accent, gray, dark },
  fontFamily: "var(--ms-font)",
  fontFamilyMonospace: "var(--ms-mono)",
  defaultRadius: 6,
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: "xs", variant: "default" } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
    Menu: { defaultProps: { shadow: "md", position: "bottom-end", transitionProps: { duration: 80 } } },
    Modal: { defaultProps: { centered: true, transitionProps: { duration: 120 } } },
    Tooltip: { defaultProps: { withArrow: false, openDelay: 300, fz: 12 } },
    TextInput: { defaultProps: { size: "sm" } },
    NumberInput: { defaultProps: { size: "sm" } },
    Select: { defaultProps: { size: "sm" } },
    SegmentedControl: { defaultProps: { size: "xs" } },
  },
});

const same = {
  "--mantine-color-body": "var(--ms-surface)",
  "--mantine-color-text": "var(--ms-text)",
  "--mantine-color-dimmed": "var(--ms-muted)",
  "--mantine-color-placeholder": "var(--ms-faint)",
  "--mantine-color-anchor": "var(--ms-accent)",
  "--mantine-color-default": "var(--ms-surface)",
  "--mantine-color-default-hover": "var(--ms-sunken)",
  "--mantine-color-default-color": "var(--ms-text)",
  "--mantine-color-default-border": "var(--ms-edge)",
  "--mantine-color-error": "var(--tone-final-failed-text)",
  "--mantine-primary-color-filled": "var(--ms-fill)",
  "--mantine-primary-color-filled-hover": "var(--ms-fill)",
  "--mantine-color-accent-filled": "var(--ms-fill)",
  "--mantine-color-accent-filled-hover": "var(--ms-fill)",
  "--mantine-color-red-filled": "var(--ms-danger)",
  "--mantine-color-red-filled-hover": "var(--ms-danger)",
  "--mantine-color-gray-light-color": "var(--ms-muted)",
};

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: same, dark: same });

/** The nonce that the server put into the page, for the few style elements that are made at run time. */
export const styleNonce = () =>
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
