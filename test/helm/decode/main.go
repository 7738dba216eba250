// Decodes every document of a rendered chart strictly into the type it claims to be: an unknown or misplaced field is
// an error. Reads YAML from standard input; prints one line per document.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

func typeOf(meta metav1.TypeMeta) any {
	switch meta.APIVersion + "/" + meta.Kind {
	case "apps/v1/StatefulSet":
		return &apps.StatefulSet{}
	case "v1/ConfigMap":
		return &core.ConfigMap{}
	case "v1/Service":
		return &core.Service{}
	case "networking.k8s.io/v1/NetworkPolicy":
		return &networking.NetworkPolicy{}
	case "networking.k8s.io/v1/Ingress":
		return &networking.Ingress{}
	case "gateway.networking.k8s.io/v1/HTTPRoute":
		return &gateway.HTTPRoute{}
	case "policy/v1/PodDisruptionBudget":
		return &policy.PodDisruptionBudget{}
	case "monitoring.coreos.com/v1/ServiceMonitor":
		return &monitoring.ServiceMonitor{}
	case "monitoring.coreos.com/v1/PrometheusRule":
		return &monitoring.PrometheusRule{}
	}
	return nil
}

func decode(document []byte) error {
	var meta struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ObjectMeta `json:"metadata"`
	}
	if err := yaml.Unmarshal(document, &meta); err != nil {
		return err
	}
	object := typeOf(meta.TypeMeta)
	if object == nil {
		return fmt.Errorf("cannot decode %s %s: unknown type", meta.APIVersion, meta.Kind)
	}
	if err := yaml.UnmarshalStrict(document, object); err != nil {
		return fmt.Errorf("cannot decode %s %s: %w", meta.Kind, meta.Metadata.Name, err)
	}
	fmt.Printf("%s %s\n", meta.Kind, meta.Metadata.Name)
	return nil
}

func main() {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for count := 0; ; count++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) && count > 0 {
			return
		}
		if err == nil {
			err = decode(document)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
