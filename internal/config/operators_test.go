package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/config"
)

const alice = "\n[[operators]]\nname = \"alice\"\ntokenSha256 = \"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"\n"

func TestOperatorsAreReadAndShown(t *testing.T) {
	t.Parallel()
	bob := strings.NewReplacer("alice", "bob", "0011", "ffee").Replace(alice)
	c, err := config.Parse([]byte(sound+alice+bob), []string{"FERRY_OPERATOR_URL=http://127.0.0.1:8081", "FERRY_OPERATOR_TOKEN=secret"})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Operators) != 2 || c.Operators[0].Name != "alice" || c.Operators[0].Digest[1] != 0x11 || c.Operators[1].Digest[0] != 0xff {
		t.Errorf("got %+v", c.Operators)
	}
	back, err := config.Parse([]byte(c.String()), nil)
	if err != nil || cmp.Diff(c, back, byValue) != "" {
		t.Errorf("what is shown reads back as %v, %v", cmp.Diff(c, back, byValue), err)
	}
}

func TestOperatorsAreRefusedWithTheKeyAndWhatToWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, was, is string
		want          []string
	}{
		{"no name", `name = "alice"`, ``, []string{"operators[0].name", "missing"}},
		{"a name of the program's own", `"alice"`, `"local:root"`, []string{"operators[0].name", "small letters"}},
		{"a name of two lines", `"alice"`, `"a\nb"`, []string{"operators[0].name"}},
		{"no token", `tokenSha256 =`, `# `, []string{"operators[0].tokenSha256", "missing"}},
		{"the token itself", `"00112233`, `"opr_secret00112233`, []string{"operators[0].tokenSha256", "never the token itself"}},
		{"half a digest", `00112233445566778899aabbccddeeff0011`, ``, []string{"operators[0].tokenSha256", "ferry operator token"}},
		{"a name twice", alice, alice + strings.Replace(alice, "0011", "ffff", 1), []string{"operators[1].name", "twice"}},
		{"a token twice", alice, alice + strings.Replace(alice, "alice", "bob", 1), []string{"operators[1].tokenSha256", "of their own"}},
		{"a key nobody knows", `name =`, `nmae =`, []string{"operators[0].nmae", "did you mean operators[0].name"}},
		{"text where a table belongs", alice, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := sound + strings.Replace(alice, c.was, c.is, 1)
			if c.want == nil {
				text, c.want = "operators = \"alice\"\n"+sound, []string{"operators", "a list of tables"}
			}
			_, err := config.Parse([]byte(text), nil)
			if !errors.Is(err, config.ErrRefused) {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "opr_secret") {
				t.Errorf("%q tells a token", err)
			}
		})
	}
}
