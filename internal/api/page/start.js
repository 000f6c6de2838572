// Shows the contract of this very server. Nothing is asked of any other host.
Scalar.createApiReference("#reference", {
  url: new URL("v2/docs", document.baseURI).href,
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
});
